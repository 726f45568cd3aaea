// SPDX-License-Identifier: Apache-2.0
#include "core/train/device/elementary.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <numbers>

namespace dts::train {
namespace {

constexpr std::uint64_t k_steps = 32;  // size of the table, a power of two; 52 - 47 bits

// The bits of 2^(i / 32), minus i << 47: adding k << 47 then adds k / 32 to the exponent.
constexpr std::array<std::uint64_t, k_steps> k_powers{
    0x3ff0000000000000, 0x3fefd9b0d3158574, 0x3fefb5586cf9890f, 0x3fef9301d0125b51,
    0x3fef72b83c7d517b, 0x3fef54873168b9aa, 0x3fef387a6e756238, 0x3fef1e9df51fdee1,
    0x3fef06fe0a31b715, 0x3feef1a7373aa9cb, 0x3feedea64c123422, 0x3feece086061892d,
    0x3feebfdad5362a27, 0x3feeb42b569d4f82, 0x3feeab07dd485429, 0x3feea47eb03a5585,
    0x3feea09e667f3bcd, 0x3fee9f75e8ec5f74, 0x3feea11473eb0187, 0x3feea589994cce13,
    0x3feeace5422aa0db, 0x3feeb737b0cdc5e5, 0x3feec49182a3f090, 0x3feed503b23e255d,
    0x3feee89f995ad3ad, 0x3feeff76f2fb5e47, 0x3fef199bdd85529c, 0x3fef3720dcef9069,
    0x3fef5818dcfba487, 0x3fef7c97337b9b5f, 0x3fefa4afa2a490da, 0x3fefd0765b6e4540};

// ln 2 in two parts: the product of the first with an integer below 2^20 is exact.
constexpr double k_ln2_high = 0x1.62e42feep-1;
constexpr double k_ln2_low = 0x1.a39ef35793c76p-33;

double power_of_two(std::int64_t exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

// sin(y) and cos(y) for |y| <= pi / 4.
double taylor_cosine(double y) {
  const double z = y * y;
  double sum = 0;
  for (int n = 18; n >= 2; n -= 2) sum = (1 - sum) * z / (n * (n - 1));
  return 1 - sum;
}

double taylor_sine(double y) {
  const double z = y * y;
  double sum = 0;
  for (int n = 19; n >= 3; n -= 2) sum = (1 - sum) * z / (n * (n - 1));
  return y * (1 - sum);
}

}  // namespace

float portable_exp(float x) {
  if (!(x >= -104.0F)) return x < 0 ? 0.0F : x;  // NaN stays NaN
  if (x > 89.0F) return std::numeric_limits<float>::infinity();
  constexpr double k_per_log2 = 0x1.71547652b82fep+0 * static_cast<double>(k_steps);
  constexpr double k_round = 0x1.8p+52;  // adding it rounds to an integer in the lowest bits
  constexpr double k_cubic = 0x1.c6af84b912394p-5 / (32.0 * 32.0 * 32.0);
  constexpr double k_square = 0x1.ebfce50fac4f3p-3 / (32.0 * 32.0);
  constexpr double k_linear = 0x1.62e42ff0c52d6p-1 / 32.0;
  const double scaled = k_per_log2 * static_cast<double>(x);
  const double shifted = scaled + k_round;
  const auto k = std::bit_cast<std::uint64_t>(shifted);
  const double r = scaled - (shifted - k_round);
  const auto power = std::bit_cast<double>(k_powers[k % k_steps] + (k << 47U));
  const double high = k_cubic * r + k_square;
  const double low = k_linear * r + 1;
  return static_cast<float>((high * (r * r) + low) * power);
}

double precise_exp(double x) {
  constexpr double k_round = 0x1.8p+52;
  const double shifted = x * 0x1.71547652b82fep+0 + k_round;
  const double k = shifted - k_round;
  const double r = (x - k * k_ln2_high) - k * k_ln2_low;
  double sum = 1;
  for (int n = 18; n >= 1; --n) sum = 1 + sum * r / n;
  // Two factors, since 2^k alone may be out of range.
  const auto half = static_cast<std::int64_t>(k) / 2;
  return sum * power_of_two(half) * power_of_two(static_cast<std::int64_t>(k) - half);
}

double portable_log(double x) {
  if (!(x < std::numeric_limits<double>::infinity())) return x;  // NaN stays NaN
  constexpr std::uint64_t k_one = 0x3ff0000000000000;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52U) - 1023;
  auto m = std::bit_cast<double>((bits & 0x000fffffffffffffU) | k_one);
  if (m > std::numbers::sqrt2) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double sum = 0;
  for (int n = 23; n >= 1; n -= 2) sum = sum * z + 1.0 / n;
  const auto k = static_cast<double>(exponent);
  return k * k_ln2_high + (2 * s * sum + k * k_ln2_low);
}

SineCosine portable_sincos(double x) {
  // pi / 2 in three parts: the product of the first two with an integer below 2^31 is exact.
  constexpr double k_first = 0x1.921fap+0;
  constexpr double k_second = 0x1.54442p-20;
  constexpr double k_third = 0x1.a308d313198a3p-41;
  constexpr double k_round = 0x1.8p+52;
  const double shifted = x * (2 * std::numbers::inv_pi) + k_round;
  const double k = shifted - k_round;
  const double r = ((x - k * k_first) - k * k_second) - k * k_third;
  const double sine = taylor_sine(r);
  const double cosine = taylor_cosine(r);
  switch (static_cast<std::int64_t>(k) % 4) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

double cosine_of_pi(double x) {
  if (x > 0.5) return -cosine_of_pi(1 - x);
  return x > 0.25 ? taylor_sine(std::numbers::pi * (0.5 - x)) : taylor_cosine(std::numbers::pi * x);
}

}  // namespace dts::train
