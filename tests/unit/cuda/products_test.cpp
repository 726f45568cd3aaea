// SPDX-License-Identifier: Apache-2.0
// How the module describes products to cuBLASLt, beside plain loops over rows.
#include "core/train/accelerator/kernels/kernel_list.hpp"
#include "plugins/cuda/context.hpp"
#include "tests/support/host_products.hpp"
#include "tests/unit/cuda/host_cublaslt.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

using namespace dts::train::accelerator;
using host_cublaslt::behaviour;

namespace {

int g_launches = 0;
constexpr int k_sum_rows = 64;

// One after the other.
template <int threads>
class Threads {
 public:
  explicit Threads(std::size_t index) : index_(index) {}

  template <class Value>
  class Kept {
   public:
    explicit Kept(const Threads& /*block*/) {}

    [[nodiscard]] Value& operator[](int thread) { return values_[thread]; }

   private:
    Value values_[threads];
  };

  [[nodiscard]] std::size_t index() const { return index_; }

  template <class Work>
  void each(const Work& work) const {
    for (int thread = 0; thread < threads; ++thread) work(thread);
  }

  template <class Work>
  void each_in_warps(const Work& work) const {
    each(work);
  }

 private:
  std::size_t index_;
};

// Memory that begins so many bytes behind an address of 256.
class Array {
 public:
  Array(std::size_t bytes, std::size_t off, std::uint32_t seed)
      : bytes_(bytes), room_(bytes + 512) {
    const auto address = reinterpret_cast<std::uintptr_t>(room_.data());
    begin_ = (256 - address % 256) % 256 + off;
    // Floats or pairs of rounded values, with absolute values between 0.25 and 1.
    for (std::size_t i = 0; i < bytes; i += 2) {
      seed = seed * 1664525 + 1013904223;
      const auto half = static_cast<std::uint16_t>(0x3E80 + (seed >> 16) % 0x100 +
                                                   (seed >> 31 != 0 ? 0x8000 : 0));
      std::memcpy(at() + i, &half, 2);
    }
  }

  [[nodiscard]] unsigned char* at() { return room_.data() + begin_; }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::size_t begin_ = 0;
  std::vector<unsigned char> room_;
};

struct Shape {
  int rows = 9;
  int columns = 16;
  int inner = 12;
  int gap = 0;
  int count = 1;
  int factors = DTTRAIN_FP32;
  int rounds = 0;
  bool left = false;  // transposed
  bool right = false;
  int added = 0;  // nothing, what is there, something else
  bool bias = false;
  int curve = DTTRAIN_STRAIGHT;
  bool sums = false;
  std::size_t off = 0;  // bytes that each array begins behind what suits any vector
};

// All arrays of a product, the same each time.
struct Operands {
  explicit Operands(const Shape& s)
      : left(
            bytes(s.left ? s.inner : s.rows, s.left ? s.rows : s.inner, s, of_factor(s)), s.off, 1),
        right(bytes(s.right ? s.columns : s.inner, s.right ? s.inner : s.columns, s, of_factor(s)),
              s.off,
              2),
        out(bytes(s.rows, s.columns, s, of_result(s)), s.off, 3),
        plus(out.bytes(), s.off, 4),
        bias(static_cast<std::size_t>(s.columns) * of_result(s), s.off, 5),
        before(out.bytes(), s.off, 6),
        sums(Columnwise{s.rows, s.columns, k_sum_rows}.sums_of_runs() * sizeof(float), s.off, 7) {
    const int left_pitch = (s.left ? s.rows : s.inner) + s.gap;
    const int right_pitch = (s.right ? s.inner : s.columns) + s.gap;
    const int pitch = s.columns + s.gap;
    const bool is_curved = s.curve != DTTRAIN_STRAIGHT;
    product = {
        {left.at(), left_pitch, s.left ? 1 : 0, stride(s.left ? s.inner : s.rows, left_pitch)},
        {right.at(),
         right_pitch,
         s.right ? 1 : 0,
         stride(s.right ? s.columns : s.inner, right_pitch)},
        out.at(),
        s.rows,
        s.columns,
        s.inner,
        pitch,
        stride(s.rows, pitch),
        s.count,
        s.factors,
        s.rounds,
        s.added == 0   ? nullptr
        : s.added == 1 ? out.at()
                       : plus.at(),
        s.bias ? bias.at() : nullptr,
        s.curve,
        is_curved ? before.at() : nullptr,
        s.sums ? reinterpret_cast<float*>(sums.at()) : nullptr,
        k_sum_rows};
  }

  Array left, right, out, plus, bias, before, sums;
  dttrain_product product{};

 private:
  static std::size_t of_factor(const Shape& s) { return s.factors == DTTRAIN_BF16 ? 2 : 4; }

  static std::size_t of_result(const Shape& s) { return s.rounds != 0 ? 2 : 4; }

  static std::int64_t stride(int rows, int pitch) { return std::int64_t{rows} * pitch + 8; }

  static std::size_t bytes(int rows, int columns, const Shape& s, std::size_t each) {
    return static_cast<std::size_t>(stride(rows, columns + s.gap) * s.count) * each;
  }
};

double value(Array& array, int rounds, std::size_t place) {
  if (rounds != 0) return value_of(reinterpret_cast<const Bfloat*>(array.at())[place]);
  return reinterpret_cast<const float*>(array.at())[place];
}

void check_equal(Array& given, Array& expected, const Shape& s) {
  // One rounding may go the other way; factors of TF32 are read as they are here.
  const double each = s.rounds != 0 ? 0.01 : s.factors == DTTRAIN_TF32 ? 4e-3 : 1e-5;
  const std::size_t values = given.bytes() / (s.rounds != 0 ? 2 : 4);
  int wrong = 0;
  for (std::size_t i = 0; i < values; ++i) {
    const double a = value(given, s.rounds, i), b = value(expected, s.rounds, i);
    if (!(std::abs(a - b) <= each * std::max(1.0, std::abs(b)))) ++wrong;
  }
  CHECK(wrong == 0);
}

// The sums of the columns of the output, as it was rounded.
void check_sums(Operands& given, const Shape& s) {
  const Columnwise shape{s.rows, s.columns, k_sum_rows};
  std::vector<double> sums(shape.sums_of_runs());
  for (int row = 0; row < s.rows; ++row)
    for (int column = 0; column < s.columns; ++column)
      sums[row_begin(static_cast<std::size_t>(row / shape.rows_each), s.columns) +
           static_cast<std::size_t>(column)] +=
          value(given.out, s.rounds, shape.place(row, column));
  int wrong = 0;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (!(std::abs(value(given.sums, 0, i) - sums[i]) <= 1e-3)) ++wrong;
  CHECK(wrong == 0);
}

// Compares the module's result with that of plain loops.
void compare(dttrain_context& context, const Shape& s) {
  CAPTURE(s.rows);
  CAPTURE(s.columns);
  CAPTURE(s.inner);
  CAPTURE(s.gap);
  CAPTURE(s.count);
  CAPTURE(s.factors);
  CAPTURE(s.rounds);
  CAPTURE(s.left);
  CAPTURE(s.right);
  CAPTURE(s.added);
  CAPTURE(s.bias);
  CAPTURE(s.curve);
  CAPTURE(s.sums);
  CAPTURE(s.off);
  Operands given(s), expected(s);
  const char* const wrong = cuda_multiply(&context, &given.product);
  CHECK_MESSAGE(wrong == nullptr, std::string(wrong == nullptr ? "" : wrong));
  host_device::multiply_now(expected.product);
  check_equal(given.out, expected.out, s);
  check_equal(given.before, expected.before, s);
  if (s.sums) check_sums(given, s);
}

// Calls each(shape) for all combinations of types, transpositions, gaps and what is added.
template <class Each>
void for_each_kind(const Each& each) {
  Shape s;
  for (const auto& [factors, rounds] :
       {std::pair{DTTRAIN_FP32, 0}, {DTTRAIN_TF32, 0}, {DTTRAIN_BF16, 0}, {DTTRAIN_BF16, 1}})
    for (const bool left : {false, true})
      for (const bool right : {false, true})
        for (const int added : {0, 1, 2})
          for (const bool bias : {false, true})
            for (const auto& [gap, count] : {std::pair{0, 1}, {5, 1}, {3, 3}}) {
              s.factors = factors;
              s.rounds = rounds;
              s.left = left;
              s.right = right;
              s.added = added;
              s.bias = bias;
              s.gap = gap;
              s.count = count;
              each(s);
            }
}

}  // namespace

const char* dttrain_context::check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return nullptr;
  wrong = std::string(what) + ": status " + std::to_string(status);
  return wrong.c_str();
}

const char* cuda_launch(dttrain_context* /*context*/, std::uint32_t number, const void* arguments) {
  ++g_launches;
  Kernels::visit(number, arguments, [](const auto& kernel) {
    using Kernel = std::decay_t<decltype(kernel)>;
    typename Kernel::Shared shared;
    for (std::size_t block = 0; block < kernel.blocks(); ++block)
      kernel.run(Threads<Kernel::k_threads>(block), shared);
  });
  return nullptr;
}

TEST_CASE("products are described by columns as they are by rows") {
  dttrain_context context;
  behaviour() = {};
  for_each_kind([&](const Shape& s) { compare(context, s); });
  CHECK(context.products_by_kernel == 0);
}

TEST_CASE("kernels compute products that cuBLASLt has no algorithm for") {
  dttrain_context context;
  behaviour() = {};
  behaviour().has_none = true;
  const int before = g_launches;
  int shapes = 0;
  for_each_kind([&](Shape s) {
    ++shapes;
    compare(context, s);
    compare(context, s);
  });
  CHECK(context.products_by_kernel > 100);
  CHECK(context.products_by_kernel == behaviour().chosen);
  CHECK(g_launches - before == 2 * shapes);
  Shape large{.rows = 131, .columns = 70, .inner = 4100, .gap = 3, .count = 2};
  for (const int factors : {DTTRAIN_FP32, DTTRAIN_BF16})
    for (const bool turned : {false, true}) {
      large.factors = factors;
      large.left = turned;
      large.right = !turned;
      compare(context, large);
    }
  for (const int curve : {DTTRAIN_GELU, DTTRAIN_GELU_GRADIENT})
    compare(context,
            {.columns = 64, .factors = DTTRAIN_BF16, .rounds = 1, .bias = true, .curve = curve});
  behaviour() = {};
}

TEST_CASE("an error of cuBLASLt is none of a missing algorithm") {
  dttrain_context context;
  behaviour() = {};
  behaviour().fails = true;
  Operands given({});
  CHECK(cuda_multiply(&context, &given.product) != nullptr);
  CHECK(context.products_by_kernel == 0);
  behaviour() = {};
}

TEST_CASE("an algorithm is chosen once for a shape, and for how its arrays are aligned") {
  dttrain_context context;
  behaviour() = {};
  Shape s;
  s.bias = true;
  for (int again = 0; again < 3; ++again) compare(context, s);
  CHECK(behaviour().chosen == 1);
  for (const std::size_t off : {8, 4}) {
    s.off = off;
    compare(context, s);
  }
  s.off = 64;  // suits all that 0 does
  compare(context, s);
  CHECK(behaviour().chosen == 3);
  s.bias = false;
  compare(context, s);
  s.rows = 8;
  compare(context, s);
  CHECK(behaviour().chosen == 5);
  CHECK(context.products_by_kernel == 0);
}

TEST_CASE("an algorithm that cuBLASLt offers and then refuses is passed over, once") {
  dttrain_context context;
  behaviour() = {};
  behaviour().refuses_first = true;
  Shape s;
  s.added = 1;
  for (int again = 0; again < 2; ++again) compare(context, s);
  CHECK(behaviour().chosen == 1);
  CHECK(context.products_by_kernel == 0);
  behaviour() = {};
}

TEST_CASE("a GELU is cuBLASLt's where it has one for rounded values, and otherwise a kernel's") {
  for (const bool fuses : {false, true})
    for (const bool has_gelu : {false, true})
      for (const bool rounds : {false, true})
        for (const int columns : {16, 20})  // rows of 20 values do not suit the library
          for (const int curve : {DTTRAIN_GELU, DTTRAIN_GELU_GRADIENT})
            for (const int added : {0, 1, 2}) {  // nothing, a bias, or sums of a gradient
              const bool bias = added == 1;
              if (added == 2 && curve == DTTRAIN_GELU) continue;
              dttrain_context context;
              context.fuses_gelu = fuses;
              context.fuses_gelu_gradient = fuses;
              behaviour() = {};
              behaviour().has_gelu = has_gelu;
              g_launches = 0;
              Shape s;
              s.columns = columns;
              s.rounds = rounds ? 1 : 0;
              s.factors = rounds ? DTTRAIN_BF16 : DTTRAIN_FP32;
              s.curve = curve;
              s.bias = bias;
              s.sums = added == 2;
              s.rows = s.sums ? 131 : 9;
              compare(context, s);
              compare(context, s);
              const bool is_fused =
                  fuses && has_gelu && rounds && columns == 16 && (curve == DTTRAIN_GELU || !bias);
              CHECK(context.products_by_kernel == 0);
              CHECK(behaviour().fused == (is_fused ? 2 : 0));
              CHECK(g_launches == (is_fused && !s.sums ? 0 : 2));
            }
}
