// SPDX-License-Identifier: Apache-2.0
// Kernels of RMS normalisation, SwiGLU and rotary positions against double precision.
#include "tests/unit/accelerator/device.hpp"

using namespace dts::train::accelerator;

TEST_CASE("RMS normalisation and its gradients on a device are those of double precision") {
  constexpr float k_epsilon = 1e-6F;
  for (const auto& size :
       {std::pair{1, 1}, {3, 7}, {5, 31}, {2, 256}, {9, 257}, {33, 16}, {4, 1000}}) {
    const int rows = size.first, columns = size.second;
    CAPTURE(rows);
    CAPTURE(columns);
    const auto width = static_cast<std::size_t>(columns);
    const auto height = static_cast<std::size_t>(rows);
    const std::size_t count = width * height;
    const Floats x = noise(count, 1, 3), gamma = noise(width, 2), d_y = noise(count, 3);
    Floats y = poisoned(count), inverse = poisoned(height);
    run_both(
        [&] {
          return Normalise<NormKind::rms, float>{{rows, columns},
                                                 k_epsilon,
                                                 x.data(),
                                                 gamma.data(),
                                                 nullptr,
                                                 y.data(),
                                                 nullptr,
                                                 inverse.data()};
        },
        {&y, &inverse});
    Doubles expected(count), d_x_expected(count), d_gamma_expected(width);
    for (std::size_t row = 0; row < height; ++row) {
      const float* const from = x.data() + row * width;
      const float* const d = d_y.data() + row * width;
      double square = 0, slope = 0;
      for (std::size_t i = 0; i < width; ++i)
        square += static_cast<double>(from[i]) * static_cast<double>(from[i]) / columns;
      const double scale = 1 / std::sqrt(square + static_cast<double>(k_epsilon));
      for (std::size_t i = 0; i < width; ++i) {
        expected[row * width + i] = from[i] * scale * gamma[i];
        slope += static_cast<double>(d[i]) * gamma[i] * (from[i] * scale) / columns;
        d_gamma_expected[i] += d[i] * (from[i] * scale);
      }
      for (std::size_t i = 0; i < width; ++i)
        d_x_expected[row * width + i] =
            (static_cast<double>(d[i]) * gamma[i] - from[i] * scale * slope) * scale;
    }
    CHECK(worst(y, expected) < 1e-6);
    const Floats stream = noise(count, 4);
    for (const bool adds : {false, true}) {
      Floats d_x = adds ? stream : poisoned(count), d_gamma = poisoned(width);
      run_both(
          [&] {
            return NormaliseBackward<NormKind::rms, float>{rows,
                                                           columns,
                                                           64,
                                                           x.data(),
                                                           gamma.data(),
                                                           nullptr,
                                                           inverse.data(),
                                                           d_y.data(),
                                                           d_x.data(),
                                                           adds,
                                                           nullptr,
                                                           d_gamma.data(),
                                                           nullptr};
          },
          {&d_x, &d_gamma});
      Doubles both = d_x_expected;
      for (std::size_t i = 0; adds && i < count; ++i) both[i] += stream[i];
      CHECK(worst(d_x, both) < 1e-5);
      CHECK(worst(d_gamma, d_gamma_expected) < 1e-5);
    }
  }
}

TEST_CASE("SwiGLU and its gradients on a device are those of double precision") {
  for (const std::size_t count : {1U, 255U, 256U, 257U, 3000U}) {
    const Floats gate = noise(count, 5, 20), up = noise(count, 6, 3), d_y = noise(count, 7);
    Floats y = poisoned(count), d_gate = poisoned(count);
    Floats d_up = d_y;  // in place
    run_both([&] { return SwigluForward<float>{{count}, gate.data(), up.data(), y.data()}; }, {&y});
    run_both(
        [&] {
          return SwigluBackward<float>{
              {count}, gate.data(), up.data(), d_up.data(), d_gate.data(), d_up.data()};
        },
        {&d_gate, &d_up});
    Doubles expected(count), d_gate_expected(count), d_up_expected(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double g = gate[i];
      const double s = 1 / (1 + std::exp(-g));
      expected[i] = g * s * up[i];
      d_up_expected[i] = d_y[i] * g * s;
      d_gate_expected[i] = static_cast<double>(d_y[i]) * up[i] * (s + g * s * (1 - s));
    }
    CHECK(worst(y, expected) < 1e-6);
    CHECK(worst(d_up, d_up_expected) < 1e-6);
    CHECK(worst(d_gate, d_gate_expected) < 2e-6);
  }
  // Includes values far from zero, for which exp() overflows or vanishes.
  const Floats far{-1000, -90, 90, 1000};
  const Floats ones(far.size(), 1);
  Floats y = poisoned(far.size());
  run_both(
      [&] {
        return SwigluForward<float>{{far.size()}, far.data(), ones.data(), y.data()};
      },
      {&y});
  CHECK(worst(y, {0, 0, 90, 1000}) < 1e-6);
}

TEST_CASE("heads are turned by the angles of their positions, and back, and nothing else is") {
  for (const int heads : {1, 3})
    for (const int half : {1, 5, 32})
      for (const int gap : {0, 7}) {
        constexpr int k_batch = 2;
        constexpr int k_context = 9;
        const int pitch = 2 * half * heads + gap;
        const auto angles = static_cast<std::size_t>(k_context * half);
        const Floats before = noise(static_cast<std::size_t>(k_batch * k_context * pitch), 8);
        const Floats turns = noise(angles, 9, 7);
        Floats cosine(angles), sine(angles);
        for (std::size_t i = 0; i < angles; ++i) {
          cosine[i] = std::cos(turns[i]);
          sine[i] = std::sin(turns[i]);
        }
        Doubles expected(before.begin(), before.end());
        for (int row = 0; row < k_batch * k_context; ++row)
          for (int head = 0; head < heads; ++head)
            for (int i = 0; i < half; ++i) {
              const auto at = static_cast<std::size_t>(row * pitch + head * 2 * half + i);
              const auto other = at + static_cast<std::size_t>(half);
              const double turn = turns[static_cast<std::size_t>(row % k_context * half + i)];
              expected[at] = before[at] * std::cos(turn) - before[other] * std::sin(turn);
              expected[other] = before[other] * std::cos(turn) + before[at] * std::sin(turn);
            }
        Floats values = before;
        const auto turn = [&](float sign) {
          const auto pairs = static_cast<std::size_t>(k_batch * k_context * heads * half);
          run_both(
              [&] {
                return Rotate<float>{{pairs},
                                     k_context,
                                     heads,
                                     half,
                                     pitch,
                                     cosine.data(),
                                     sine.data(),
                                     sign,
                                     values.data()};
              },
              {&values});
        };
        turn(1);
        CHECK(worst(values, expected) < 1e-6);
        turn(-1);
        CHECK(worst(values, {before.begin(), before.end()}) < 1e-6);
      }
}
