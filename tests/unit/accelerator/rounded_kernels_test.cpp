// SPDX-License-Identifier: Apache-2.0
// Kernels for arrays rounded to bf16 against the same kernels for fp32 arrays, whose results they
// must round.
#include "tests/unit/accelerator/device.hpp"

using namespace dts::train::accelerator;

namespace {

constexpr std::size_t k_counts[] = {1, 4, 255, 1023, 1024, 1025, 3002};

// Inputs that both types can represent.
Floats representable(std::size_t count, std::uint64_t seed, float size) {
  return widened(rounded(noise(count, seed, size)));
}

}  // namespace

TEST_CASE("GELU and SwiGLU of rounded arrays are those of fp32, rounded, in place too") {
  for (const std::size_t count : k_counts) {
    CAPTURE(count);
    const Floats x = representable(count, 1, 6), up = representable(count, 2, 3);
    const Floats d_y = representable(count, 3, 1);
    const Bfloats x_rounded = rounded(x), up_rounded = rounded(up);
    Floats y = poisoned(count), d_x = d_y, d_gate = poisoned(count), d_up = d_y;
    Bfloats y_rounded = rounded_poison(count), d_x_rounded = rounded(d_y);
    run_both([&] { return GeluForward<float>{{count}, x.data(), y.data()}; }, {&y});
    run_both(
        [&] {
          return GeluForward<Bfloat>{{count}, x_rounded.data(), y_rounded.data()};
        },
        {&y_rounded});
    CHECK(y_rounded == rounded(y));
    run_both(
        [&] {
          return GeluBackward<float>{{count}, x.data(), d_x.data(), d_x.data()};
        },
        {&d_x});
    Bfloat* const d = d_x_rounded.data();
    run_both([&] { return GeluBackward<Bfloat>{{count}, x_rounded.data(), d, d}; }, {&d_x_rounded});
    CHECK(d_x_rounded == rounded(d_x));
    run_both([&] { return SwigluForward<float>{{count}, x.data(), up.data(), y.data()}; }, {&y});
    run_both(
        [&] {
          return SwigluForward<Bfloat>{
              {count}, x_rounded.data(), up_rounded.data(), y_rounded.data()};
        },
        {&y_rounded});
    CHECK(y_rounded == rounded(y));
    run_both(
        [&] {
          return SwigluBackward<float>{
              {count}, x.data(), up.data(), d_up.data(), d_gate.data(), d_up.data()};
        },
        {&d_gate, &d_up});
    Bfloats d_gate_rounded = rounded_poison(count), d_up_rounded = rounded(d_y);
    run_both(
        [&] {
          return SwigluBackward<Bfloat>{{count},
                                        x_rounded.data(),
                                        up_rounded.data(),
                                        d_up_rounded.data(),
                                        d_gate_rounded.data(),
                                        d_up_rounded.data()};
        },
        {&d_gate_rounded, &d_up_rounded});
    CHECK(d_gate_rounded == rounded(d_gate));
    CHECK(d_up_rounded == rounded(d_up));
  }
}

TEST_CASE("turned heads, norms and sums of columns are those of fp32, rounded") {
  constexpr int k_rows = 21, k_rows_each = 32, k_width = 30, k_context = 7, k_heads = 3, k_half = 5;
  constexpr std::size_t k_count = std::size_t{k_rows} * k_width;
  const Floats x = representable(k_count, 4, 2), gamma = noise(k_width, 5),
               beta = noise(k_width, 6);
  const Floats cosine = noise(k_context * k_half, 7), sine = noise(k_context * k_half, 8);
  Floats turned = x, y = poisoned(k_count), mean = poisoned(k_rows), inverse = poisoned(k_rows);
  Bfloats turned_rounded = rounded(x), y_rounded = rounded_poison(k_count);
  const auto turn = [&](auto* values) {
    return Rotate<std::remove_pointer_t<decltype(values)>>{{k_rows * k_heads * k_half},
                                                           k_context,
                                                           k_heads,
                                                           k_half,
                                                           k_width,
                                                           cosine.data(),
                                                           sine.data(),
                                                           1,
                                                           values};
  };
  run_both([&] { return turn(turned.data()); }, {&turned});
  run_both([&] { return turn(turned_rounded.data()); }, {&turned_rounded});
  CHECK(turned_rounded == rounded(turned));
  const auto normalise = [&](auto* to) {
    return Normalise<NormKind::layer, std::remove_pointer_t<decltype(to)>>{{k_rows, k_width},
                                                                           1e-5F,
                                                                           x.data(),
                                                                           gamma.data(),
                                                                           beta.data(),
                                                                           to,
                                                                           mean.data(),
                                                                           inverse.data()};
  };
  run_both([&] { return normalise(y.data()); }, {&y, &mean, &inverse});
  run_both([&] { return normalise(y_rounded.data()); }, {&y_rounded});
  CHECK(y_rounded == rounded(y));
  const Bfloats x_rounded = rounded(x);
  Floats sums = poisoned(k_width), of_rounded = poisoned(k_width);
  run_both([&] { return ColumnSums<float>{{k_rows, k_width}, x.data(), sums.data()}; }, {&sums});
  run_both(
      [&] {
        return ColumnSums<Bfloat>{{k_rows, k_width}, x_rounded.data(), of_rounded.data()};
      },
      {&of_rounded});
  CHECK(of_rounded == sums);
  // The gradient of a stream gets a rounded copy; the gradient of the output may be rounded, too.
  const Bfloats d_rounded = rounded(noise(k_count, 9));
  const Floats d_y = widened(d_rounded), stream = noise(k_count, 10);
  Floats d_x = stream, d_x_of_rounded = stream;
  Bfloats copy = rounded_poison(k_count);
  Floats d_gamma = poisoned(k_width), d_beta = poisoned(k_width);
  const auto backward = [&](const auto& given, Floats& to) {
    using Gradient = std::remove_cvref_t<decltype(given.front())>;
    return NormaliseBackward<NormKind::layer, Gradient>{k_rows,
                                                        k_width,
                                                        k_rows_each,
                                                        x.data(),
                                                        gamma.data(),
                                                        mean.data(),
                                                        inverse.data(),
                                                        given.data(),
                                                        to.data(),
                                                        true,
                                                        copy.data(),
                                                        d_gamma.data(),
                                                        d_beta.data()};
  };
  run_both([&] { return backward(d_y, d_x); }, {&d_x, &d_gamma, &d_beta});
  const Floats of_gamma = d_gamma, of_beta = d_beta;
  run_both([&] { return backward(d_rounded, d_x_of_rounded); },
           {&d_x_of_rounded, &d_gamma, &d_beta});
  CHECK(d_x_of_rounded == d_x);
  CHECK(copy == rounded(d_x));
  CHECK(d_gamma == of_gamma);
  CHECK(d_beta == of_beta);
}
