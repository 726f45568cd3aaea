// SPDX-License-Identifier: Apache-2.0
// Rounding to bf16, and layers with bf16 products against those with fp32.
#include "core/train/device/kernel_table.hpp"
#include "core/train/model/network.hpp"
#include "core/train/model/token_blocks.hpp"
#include "tests/unit/train/attention_bench.hpp"
#include "tests/unit/train/block_bench.hpp"
#include "tests/unit/train/cnn2.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace dts::train;
using reference::Values;

namespace {

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

std::vector<Bf16> rounded(const std::vector<float>& values) {
  std::vector<Bf16> to(values.size());
  round_to_bf16(values.data(), values.size(), to.data());
  return to;
}

Bf16 rounded(float value) {
  return rounded(std::vector<float>{value}).front();
}

float widened(Bf16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

// Computed in double precision: a multiple of the distance between neighbours in bf16, which is
// constant below 2^-126.
double nearest(float value) {
  const int exponent = std::max(std::ilogb(value), -126);
  const double spacing = std::ldexp(1.0, exponent - 7);
  return std::nearbyint(static_cast<double>(value) / spacing) * spacing;
}

// Numbers of all exponents, and numbers exactly and nearly halfway between two of bf16.
std::vector<float> numbers() {
  std::vector<float> all;
  for (std::uint32_t top = 0; top < 0x10000U; top += 3)
    for (const std::uint32_t rest : {0U, 1U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
      all.push_back(std::bit_cast<float>(top << 16 | rest));
  all.push_back(0.5F);  // not a multiple of a vector
  return all;
}

bool has_bf16() {
  if (best_bf16_instructions() != Bf16Instructions::none) return true;
  MESSAGE("not checked: this processor has no instructions for bf16");
  return false;
}

// The largest relative error of rounding: half of the distance between 1 and its neighbour.
constexpr double k_unit = 0x1.0p-8;

// The error of an element may be what rounding both factors does to the sum of the products'
// magnitudes, plus the little that fp32 sums lose.
void check_within(const float* ours,
                  const float* exact,
                  const float* magnitudes,
                  std::size_t count) {
  double worst = 0;
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double error = std::abs(static_cast<double>(ours[i]) - static_cast<double>(exact[i]));
    worst = std::max(worst, error / (static_cast<double>(magnitudes[i]) + 1e-9));
    largest = std::max(largest, error);
  }
  CAPTURE(worst);
  CHECK(worst < 2 * k_unit + k_unit * k_unit + 1e-5);
  CHECK(largest > 0);  // otherwise these were no bf16 products
}

// After several roundings: within two roundings of the largest number.
void check_near(const Buffer& ours, const Buffer& exact) {
  double worst = 0;
  double largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const auto to = static_cast<double>(exact.data()[i]);
    worst = std::max(worst, std::abs(static_cast<double>(ours.data()[i]) - to));
    largest = std::max(largest, std::abs(to));
  }
  CAPTURE(worst / largest);
  CHECK(worst < 2 * k_unit * largest);
  CHECK(worst > 0);  // otherwise these were no bf16 products
}

struct Ran {
  Bench bench;
  Activation in;
  Activation out;
};

struct Inputs {
  Values x;
  std::vector<std::pair<std::string, Values>> weights;
  Values d_y;

  // Inputs whose products are all positive.
  [[nodiscard]] Inputs magnitudes() const {
    Inputs all = *this;
    const auto make = [](Values& values) {
      for (double& v : values) v = std::abs(v);
    };
    make(all.x);
    make(all.d_y);
    for (auto& [name, values] : all.weights) make(values);
    return all;
  }
};

template <class Make>
std::unique_ptr<Ran> run(const Layout& layout, const Inputs& inputs, const Make& make) {
  std::unique_ptr<Ran> ran(
      new Ran{Bench(layout), Activation(inputs.x.size()), Activation(inputs.d_y.size())});
  fill(ran->in.value, inputs.x);
  for (const auto& [name, values] : inputs.weights) ran->bench.set(name, values);
  const auto block = make(ran->bench.layout, ran->in.edge(), ran->out.edge());
  ran->bench.run(*block, ran->out, inputs.d_y);
  return ran;
}

// `make` gets the precision.
template <class Make>
void check_precisions(const Layout& layout, const Inputs& inputs, const Make& make) {
  const auto of = [&](Precision precision) {
    return [&make, precision](const Layout& l, Edge in, Edge out) {
      return make(l, in, out, precision);
    };
  };
  const auto exact = run(layout, inputs, of(Precision::fp32));
  const auto ours = run(layout, inputs, of(Precision::bf16));
  const auto magnitudes = run(layout, inputs.magnitudes(), of(Precision::fp32));
  check_within(ours->out.value.data(),
               exact->out.value.data(),
               magnitudes->out.value.data(),
               inputs.d_y.size());
  check_within(ours->in.gradient.data(),
               exact->in.gradient.data(),
               magnitudes->in.gradient.data(),
               inputs.x.size());
  const std::string& weight = inputs.weights.front().first;
  check_within(ours->bench.gradient(weight),
               exact->bench.gradient(weight),
               magnitudes->bench.gradient(weight),
               layout.parameter(weight).count);
}

}  // namespace

TEST_CASE("numbers are rounded to the nearest of bf16, ties to even, with every instruction set") {
  const std::vector<float> all = numbers();
  for (int set = 0; set <= static_cast<int>(best_instruction_set()); ++set) {
    CAPTURE(set);
    select_kernels(static_cast<InstructionSet>(set));
    const std::vector<Bf16> ours = rounded(all);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float to = widened(ours[i]);
      if (std::isnan(all[i]))
        wrong += std::isnan(to) && std::signbit(to) == std::signbit(all[i]) &&
                         (ours[i] & 0x40U) != 0 &&
                         (ours[i] & 0x3FU) == (bits_of(all[i]) >> 16 & 0x3FU)
                     ? 0
                     : 1;
      else if (std::isinf(all[i]) || all[i] == 0.0F)
        wrong += bits_of(to) == bits_of(all[i]) ? 0 : 1;
      else if (std::abs(nearest(all[i])) > static_cast<double>(widened(0x7F7F)))
        wrong += std::isinf(to) && std::signbit(to) == std::signbit(all[i]) ? 0 : 1;
      else
        wrong += static_cast<double>(to) == nearest(all[i]) ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(rounded(1.00390625F) == 0x3F80);  // a tie, rounded to even below
    CHECK(rounded(1.01171875F) == 0x3F82);  // and above
    CHECK(rounded(std::numeric_limits<float>::denorm_min()) == 0);
    CHECK(rounded(0x1.0p-133F) == 1);  // the smallest of bf16
    CHECK(rounded(-std::numeric_limits<float>::max()) == 0xFF80);
  }
  select_kernels(best_instruction_set());
}

TEST_CASE("bf16 is refused where its instructions are not, and fp32 never") {
  using enum InstructionSet;
  for (const auto set : {portable, avx2, avx512})
    CHECK(check_precision(Precision::fp32, set, Bf16Instructions::none));
  for (const auto best : {Bf16Instructions::avx512_bf16, Bf16Instructions::amx})
    CHECK(check_precision(Precision::bf16, avx512, best));
  const auto lacks = check_precision(Precision::bf16, avx512, Bf16Instructions::none).error();
  CHECK(lacks.message ==
        "--precision bf16 needs the instructions AVX512-BF16 or AMX-BF16, which this processor "
        "does not have");
  CHECK(lacks.hint == "--precision fp32 works here");
  const auto left_out = check_precision(Precision::bf16, avx2, Bf16Instructions::amx).error();
  CHECK(left_out.message ==
        "--precision bf16 needs AVX512-BF16, which --instruction-set avx2 excludes");
  CHECK(precision_of("bf16") == Precision::bf16);
  CHECK_FALSE(precision_of("fp16"));
}

TEST_CASE("projections of bf16 are those of fp32 within its rounding") {
  if (!has_bf16()) return;
  constexpr int k_rows = 37;
  constexpr int k_in = 48;
  constexpr int k_out = 80;
  for (const bool is_in_out : {true, false}) {
    const Layout layout =
        layout_of({{"p", {is_in_out ? k_in : k_out, is_in_out ? k_out : k_in}}, {"b", {k_out}}});
    const Inputs inputs{reference::random_values(k_rows * k_in, 1),
                        {{"p", reference::random_values(k_in * k_out, 2)},
                         {"b", reference::random_values(k_out, 3)}},
                        reference::random_values(k_rows * k_out, 4)};
    check_precisions(layout, inputs, [&](const Layout& l, Edge in, Edge out, Precision precision) {
      return projection(l,
                        {.weight = "p",
                         .bias = is_in_out ? "b" : "",
                         .rows = k_rows,
                         .in = k_in,
                         .out = k_out,
                         .is_in_out = is_in_out,
                         .into = is_in_out ? Into::overwrites : Into::adds,
                         .precision = precision},
                        in,
                        out);
    });
  }
}

TEST_CASE("fully connected layers of bf16 are those of fp32 within its rounding") {
  if (!has_bf16()) return;
  constexpr int k_batch = 3;
  const Inputs inputs{reference::random_values(k_batch * k_cnn2_hidden, 5),
                      {{"fc2.weight", reference::random_values(k_classes * k_cnn2_hidden, 6)},
                       {"fc2.bias", reference::random_values(k_classes, 7)}},
                      reference::random_values(k_batch * k_classes, 8)};
  check_precisions(
      cnn2().layout, inputs, [](const Layout& l, Edge in, Edge out, Precision precision) {
        return linear(l, "fc2", {k_batch, k_cnn2_hidden, k_classes, false, precision}, in, out);
      });
}

TEST_CASE("with numbers that bf16 has, a layer with ReLU loses nothing, and keeps a NaN") {
  if (!has_bf16()) return;
  constexpr int k_batch = 3;
  Inputs inputs{reference::random_values(k_batch * k_cnn2_hidden, 9),
                {{"fc2.weight", reference::random_values(k_classes * k_cnn2_hidden, 10)},
                 {"fc2.bias", reference::random_values(k_classes, 11)}},
                reference::random_values(k_batch * k_classes, 12)};
  const auto coarsen = [](Values& values) {
    for (double& v : values) v = std::nearbyint(v * 64) / 64;
  };
  coarsen(inputs.x);
  coarsen(inputs.d_y);
  for (auto& [name, values] : inputs.weights) coarsen(values);
  const auto of = [&](Precision precision) {
    return run(cnn2().layout, inputs, [precision](const Layout& l, Edge in, Edge out) {
      return linear(l, "fc2", {k_batch, k_cnn2_hidden, k_classes, true, precision}, in, out);
    });
  };
  const auto exact = of(Precision::fp32);
  const auto ours = of(Precision::bf16);
  const auto is_equal = [](const Buffer& a, const Buffer& b) {
    return std::equal(a.all().begin(), a.all().end(), b.all().begin());
  };
  CHECK(is_equal(ours->out.value, exact->out.value));
  CHECK(is_equal(ours->in.gradient, exact->in.gradient));
  CHECK(is_equal(ours->bench.sums, exact->bench.sums));
  inputs.x.front() = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(of(Precision::bf16)->out.value.data()[0]));
}

TEST_CASE("attention of bf16 is that of fp32 within its rounding, whatever the rows and heads") {
  if (!has_bf16()) return;
  for (const reference::AttentionShape& shape :
       {reference::AttentionShape{2, 5, 16, 4, 2}, {1, 150, 64, 2, 1}, {2, 64, 20, 3, 3}}) {
    AttentionBench exact{shape};
    AttentionBench ours{shape};
    exact.run(Precision::fp32);
    ours.run(Precision::bf16);
    check_near(ours.out.value, exact.out.value);
    check_near(ours.q.gradient, exact.q.gradient);
    check_near(ours.k.gradient, exact.k.gradient);
    check_near(ours.v.gradient, exact.v.gradient);
  }
}

TEST_CASE("convolutions of bf16 are those of fp32 within its rounding, of both strides") {
  if (!has_bf16()) return;
  for (const int stride : {1, 2}) {
    const ConvolutionShape shape{{3, 16, 14, 14}, 32, stride};
    const Layout layout = layout_of({{"conv.weight", {32, 16, 3, 3}}});
    const Inputs inputs{reference::random_values(shape.in.count(), 13),
                        {{"conv.weight", reference::random_values(32 * 144, 14)}},
                        reference::random_values(shape.out().count(), 15)};
    check_precisions(layout, inputs, [&](const Layout& l, Edge in, Edge out, Precision precision) {
      ConvolutionShape with = shape;
      with.precision = precision;
      return convolution(l, "conv", with, in, out);
    });
  }
}
