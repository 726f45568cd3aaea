// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/operations.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

namespace ptx {
namespace {

using Table = std::map<std::string, Operation>;

template <class Value>
Value value_of(Word word) {
  if constexpr (std::is_same_v<Value, bool>)
    return word != 0;
  else if constexpr (std::is_same_v<Value, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(word));
  else if constexpr (std::is_same_v<Value, double>)
    return std::bit_cast<double>(word);
  else
    return static_cast<Value>(word);
}

template <class Value>
Word word_of(Value value) {
  if constexpr (std::is_same_v<Value, bool>)
    return value ? 1 : 0;
  else if constexpr (std::is_same_v<Value, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::is_same_v<Value, double>)
    return std::bit_cast<std::uint64_t>(value);
  else
    return static_cast<std::make_unsigned_t<Value>>(value);
}

template <class Function, class To, class... From>
struct Applied {
  template <std::size_t... i>
  static void apply(Word* registers, const int* slots, std::index_sequence<i...> /*sources*/) {
    registers[slots[0]] = word_of<To>(Function{}(value_of<From>(registers[slots[1 + i]])...));
  }

  static void run(Word* registers, const int* slots) {
    apply(registers, slots, std::index_sequence_for<From...>());
  }
};

template <class Function, class To, class... From>
Operation applied(To (Function::* /*call*/)(From...) const) {
  return &Applied<Function, To, From...>::run;
}

// The operation that a function of values without captures computes.
template <class Function>
Operation from(Function /*function*/) {
  return applied<Function>(&Function::operator());
}

template <class T>
void add_comparisons(Table& table, const std::string& type) {
  table["setp.eq." + type] = from([](T a, T b) { return a == b; });
  table["setp.ne." + type] = from([](T a, T b) { return a < b || b < a; });
  table["setp.lt." + type] = from([](T a, T b) { return a < b; });
  table["setp.le." + type] = from([](T a, T b) { return a <= b; });
  table["setp.gt." + type] = from([](T a, T b) { return a > b; });
  table["setp.ge." + type] = from([](T a, T b) { return a >= b; });
  table["selp." + type] = from([](T a, T b, bool first) { return first ? a : b; });
  table["mov." + type] = from([](T a) { return a; });
}

// Shifts by more than the width are shifts by the width.
template <class T>
T shifted_right(T a, std::uint32_t by) {
  constexpr std::uint32_t k_width = 8 * sizeof(T);
  if (by < k_width) return static_cast<T>(a >> by);
  return static_cast<T>(a < 0 ? -1 : 0);
}

template <class T>
void add_bits(Table& table, const std::string& type) {
  add_comparisons<T>(table, type);
  table["and." + type] = from([](T a, T b) { return static_cast<T>(a & b); });
  table["or." + type] = from([](T a, T b) { return static_cast<T>(a | b); });
  table["xor." + type] = from([](T a, T b) { return static_cast<T>(a ^ b); });
  table["not." + type] = from([](T a) { return static_cast<T>(~a); });
  table["shl." + type] = from([](T a, std::uint32_t by) {
    return by < 8 * sizeof(T) ? static_cast<T>(static_cast<std::uint64_t>(a) << by) : T{0};
  });
  table["shr." + type] = from([](T a, std::uint32_t by) { return shifted_right(a, by); });
}

// Whether a quotient is defined.
template <class T>
bool divides(T a, T b) {
  return b != 0 && !(std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == T(-1));
}

// Twice as wide.
template <class T>
using Wide =
    std::conditional_t<sizeof(T) == 4,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>;

// Arithmetic wraps, which only unsigned types do in C++.
template <class T>
void add_integers(Table& table, const std::string& type) {
  using U = std::uint64_t;
  add_comparisons<T>(table, type);
  table["add." + type] = from([](T a, T b) { return static_cast<T>(U(a) + U(b)); });
  table["sub." + type] = from([](T a, T b) { return static_cast<T>(U(a) - U(b)); });
  table["mul.lo." + type] = from([](T a, T b) { return static_cast<T>(U(a) * U(b)); });
  table["mad.lo." + type] = from([](T a, T b, T c) { return static_cast<T>(U(a) * U(b) + U(c)); });
  table["neg." + type] = from([](T a) { return static_cast<T>(-U(a)); });
  table["min." + type] = from([](T a, T b) { return std::min(a, b); });
  table["max." + type] = from([](T a, T b) { return std::max(a, b); });
  table["shr." + type] = from([](T a, std::uint32_t by) { return shifted_right(a, by); });
  table["div." + type] =
      from([](T a, T b) { return static_cast<T>(divides(a, b) ? a / b : T(-1)); });
  table["rem." + type] = from([](T a, T b) { return static_cast<T>(divides(a, b) ? a % b : a); });
  if constexpr (sizeof(T) < 8) {
    table["mul.hi." + type] =
        from([](T a, T b) { return static_cast<T>((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T))); });
    table["mul.wide." + type] = from([](T a, T b) { return Wide<T>(Wide<T>(a) * Wide<T>(b)); });
    table["mad.wide." + type] = from([](T a, T b, Wide<T> c) {
      return static_cast<Wide<T>>(U(Wide<T>(a) * Wide<T>(b)) + U(c));
    });
  }
}

// A comparison whose name ends in u is also true of NaN.
template <class T>
void add_floats(Table& table, const std::string& type) {
  add_comparisons<T>(table, type);
  table["setp.equ." + type] = from([](T a, T b) { return !(a < b || a > b); });
  table["setp.neu." + type] = from([](T a, T b) { return a != b; });
  table["setp.ltu." + type] = from([](T a, T b) { return !(a >= b); });
  table["setp.leu." + type] = from([](T a, T b) { return !(a > b); });
  table["setp.gtu." + type] = from([](T a, T b) { return !(a <= b); });
  table["setp.geu." + type] = from([](T a, T b) { return !(a < b); });
  table["setp.nan." + type] = from([](T a, T b) { return std::isnan(a) || std::isnan(b); });
  table["setp.num." + type] = from([](T a, T b) { return !std::isnan(a) && !std::isnan(b); });
  for (const char* const rounding : {"", "rn."}) {
    table["add." + (rounding + type)] = from([](T a, T b) { return a + b; });
    table["sub." + (rounding + type)] = from([](T a, T b) { return a - b; });
    table["mul." + (rounding + type)] = from([](T a, T b) { return a * b; });
  }
  table["fma.rn." + type] = from([](T a, T b, T c) { return std::fma(a, b, c); });
  table["div.rn." + type] = from([](T a, T b) { return a / b; });
  table["rcp.rn." + type] = from([](T a) { return 1 / a; });
  table["sqrt.rn." + type] = from([](T a) { return std::sqrt(a); });
  table["neg." + type] = from([](T a) { return -a; });
  table["abs." + type] = from([](T a) { return std::fabs(a); });
  table["min." + type] = from([](T a, T b) { return std::fmin(a, b); });
  table["max." + type] = from([](T a, T b) { return std::fmax(a, b); });
}

// From every integer type to every other one, and to floats.
template <class To, class... From>
void add_conversions(Table& table,
                     const std::string& to,
                     std::array<const char*, sizeof...(From)> names) {
  std::size_t i = 0;
  ((table["cvt." + to + "." + names[i++]] = from([](From a) { return static_cast<To>(a); })), ...);
}

template <class To>
void add_conversions(Table& table, const std::string& to) {
  add_conversions<To,
                  std::uint8_t,
                  std::int8_t,
                  std::uint16_t,
                  std::int16_t,
                  std::uint32_t,
                  std::int32_t,
                  std::uint64_t,
                  std::int64_t>(table, to, {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"});
}

// a * b + c, rounded down. The product of two floats is exact as a double, and so is the error of a
// sum of two doubles (Knuth, TwoSum).
float fma_down(float a, float b, float c) {
  const float nearest = std::fma(a, b, c);
  const double product = static_cast<double>(a) * b;
  const double sum = product + c;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  if (!std::isfinite(nearest) || nearest - sum <= error) return nearest;
  return std::nextafter(nearest, -std::numeric_limits<float>::infinity());
}

// To the nearest, ties to even; as a device, with one NaN.
std::uint16_t bf16_of(float value) {
  if (std::isnan(value)) return 0x7fff;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

void unpack_words(Word* registers, const int* slots) {
  const Word both = registers[slots[2]];
  registers[slots[0]] = both & 0xffff;
  registers[slots[1]] = both >> 16;
}

void unpack_longs(Word* registers, const int* slots) {
  const Word both = registers[slots[2]];
  registers[slots[0]] = both & 0xffffffff;
  registers[slots[1]] = both >> 32;
}

void add_special(Table& table) {
  table["and.pred"] = from([](bool a, bool b) { return a && b; });
  table["or.pred"] = from([](bool a, bool b) { return a || b; });
  table["xor.pred"] = from([](bool a, bool b) { return a != b; });
  table["not.pred"] = from([](bool a) { return !a; });
  table["mov.pred"] = from([](bool a) { return a; });
  table["cvta.to.global.u64"] = from([](std::uint64_t a) { return a; });  // the same addresses
  table["mov.b32 pack"] = from([](std::uint16_t low, std::uint16_t high) {
    return low | static_cast<std::uint32_t>(high) << 16;
  });
  table["mov.b64 pack"] = from([](std::uint32_t low, std::uint32_t high) {
    return low | static_cast<std::uint64_t>(high) << 32;
  });
  table["mov.b32 unpack"] = &unpack_words;
  table["mov.b64 unpack"] = &unpack_longs;
  table["cvt.sat.f32.f32"] =
      from([](float a) { return std::isnan(a) ? 0.0F : std::clamp(a, 0.0F, 1.0F); });
  table["cvt.f64.f32"] = from([](float a) { return static_cast<double>(a); });
  table["cvt.rn.f32.f64"] = from([](double a) { return static_cast<float>(a); });
  table["cvt.rn.bf16.f32"] = from([](float a) { return bf16_of(a); });
  table["cvt.rn.bf16x2.f32"] = from([](float high, float low) {
    return static_cast<std::uint32_t>(bf16_of(high)) << 16 | bf16_of(low);
  });
  table["fma.rm.f32"] = from([](float a, float b, float c) { return fma_down(a, b, c); });
  table["ex2.approx.ftz.f32"] = from([](float a) { return flushed(std::exp2(flushed(a))); });
}

Table made() {
  Table table;
  add_bits<std::uint16_t>(table, "b16");
  add_bits<std::uint32_t>(table, "b32");
  add_bits<std::uint64_t>(table, "b64");
  add_integers<std::uint16_t>(table, "u16");
  add_integers<std::int16_t>(table, "s16");
  add_integers<std::uint32_t>(table, "u32");
  add_integers<std::int32_t>(table, "s32");
  add_integers<std::uint64_t>(table, "u64");
  add_integers<std::int64_t>(table, "s64");
  add_floats<float>(table, "f32");
  add_floats<double>(table, "f64");
  add_conversions<std::uint16_t>(table, "u16");
  add_conversions<std::int16_t>(table, "s16");
  add_conversions<std::uint32_t>(table, "u32");
  add_conversions<std::int32_t>(table, "s32");
  add_conversions<std::uint64_t>(table, "u64");
  add_conversions<std::int64_t>(table, "s64");
  add_conversions<float>(table, "rn.f32");
  add_conversions<double>(table, "rn.f64");
  add_special(table);
  return table;
}

}  // namespace

Operation operation_named(const std::string& name) {
  static const Table table = made();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace ptx
