// SPDX-License-Identifier: Apache-2.0
// Kernels of norms, softmax and cross-entropy against double precision, for various shapes.
#include "core/train/accelerator/run_sums.hpp"
#include "tests/unit/accelerator/device.hpp"

using namespace dts::train::accelerator;

namespace {

struct Shape {
  int rows;
  int width;

  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
  }
};

// Smaller than a block, odd, exactly a block, and several rounds of a block.
constexpr Shape k_shapes[] = {{1, 1}, {3, 7}, {5, 31}, {2, 256}, {9, 257}, {33, 16}, {4, 1000}};

struct Moments {
  double mean = 0;
  double inverse = 0;
};

Moments moments_of(const float* x, int width, double epsilon) {
  Moments m;
  for (int i = 0; i < width; ++i) m.mean += x[i] / static_cast<double>(width);
  double variance = 0;
  for (int i = 0; i < width; ++i) variance += (x[i] - m.mean) * (x[i] - m.mean) / width;
  m.inverse = 1 / std::sqrt(variance + epsilon);
  return m;
}

}  // namespace

TEST_CASE("layer normalisation and its gradients on a device are those of double precision") {
  constexpr float k_epsilon = 1e-5F;
  for (const Shape& shape : k_shapes) {
    CAPTURE(shape.rows);
    CAPTURE(shape.width);
    const auto width = static_cast<std::size_t>(shape.width);
    const auto rows = static_cast<std::size_t>(shape.rows);
    const Floats x = noise(shape.count(), 1, 3);
    const Floats gamma = noise(width, 2);
    const Floats beta = noise(width, 3);
    const Floats d_y = noise(shape.count(), 4);
    Floats y = poisoned(shape.count()), mean = poisoned(rows), inverse = poisoned(rows);
    run_both(
        [&] {
          return Normalise<NormKind::layer, float>{{shape.rows, shape.width},
                                                   k_epsilon,
                                                   x.data(),
                                                   gamma.data(),
                                                   beta.data(),
                                                   y.data(),
                                                   mean.data(),
                                                   inverse.data()};
        },
        {&y, &mean, &inverse});
    Doubles expected(shape.count()), d_x_expected(shape.count());
    Doubles d_gamma_expected(width), d_beta_expected(width);
    const Floats stream = noise(shape.count(), 5);
    for (std::size_t row = 0; row < rows; ++row) {
      const float* const from = x.data() + row * width;
      const float* const d = d_y.data() + row * width;
      const Moments m = moments_of(from, shape.width, static_cast<double>(k_epsilon));
      double level = 0, slope = 0;
      for (std::size_t i = 0; i < width; ++i) {
        const double normal = (from[i] - m.mean) * m.inverse;
        expected[row * width + i] = normal * gamma[i] + beta[i];
        level += static_cast<double>(d[i]) * gamma[i] / shape.width;
        slope += static_cast<double>(d[i]) * gamma[i] * normal / shape.width;
        d_gamma_expected[i] += d[i] * normal;
        d_beta_expected[i] += d[i];
      }
      for (std::size_t i = 0; i < width; ++i) {
        const double normal = (from[i] - m.mean) * m.inverse;
        d_x_expected[row * width + i] =
            (static_cast<double>(d[i]) * gamma[i] - level - normal * slope) * m.inverse;
      }
    }
    // A row of one value has no variance: 1 / sqrt(epsilon) multiplies rounding errors by 316.
    const double scale = shape.width == 1 ? 1e-3 : 1e-5;
    CHECK(worst(y, expected) < scale);
    for (const bool adds : {false, true}) {
      Floats d_x = adds ? stream : poisoned(shape.count());
      Floats d_gamma = poisoned(width), d_beta = poisoned(width);
      run_both(
          [&] {
            return NormaliseBackward<NormKind::layer, float>{shape.rows,
                                                             shape.width,
                                                             64,
                                                             x.data(),
                                                             gamma.data(),
                                                             mean.data(),
                                                             inverse.data(),
                                                             d_y.data(),
                                                             d_x.data(),
                                                             adds,
                                                             nullptr,
                                                             d_gamma.data(),
                                                             d_beta.data()};
          },
          {&d_x, &d_gamma, &d_beta});
      Doubles both = d_x_expected;
      for (std::size_t i = 0; adds && i < both.size(); ++i) both[i] += stream[i];
      CHECK(worst(d_x, both) < scale);
      CHECK(worst(d_gamma, d_gamma_expected) < scale);
      CHECK(worst(d_beta, d_beta_expected) < 1e-5);
    }
    Floats sums = poisoned(width);
    run_both(
        [&] {
          return ColumnSums<float>{{shape.rows, shape.width}, d_y.data(), sums.data()};
        },
        {&sums});
    CHECK(worst(sums, d_beta_expected) < 1e-5);
  }
}

TEST_CASE("columns of many rows are added up by way of runs of them") {
  for (const Shape& shape : {Shape{512, 40}, {513, 1}, {1700, 33}, {520, 132}}) {
    CAPTURE(shape.rows);
    const auto width = static_cast<std::size_t>(shape.width);
    const auto rows = static_cast<std::size_t>(shape.rows);
    const Floats x = noise(shape.count(), 6), gamma = noise(width, 5);
    const Floats d_y = noise(shape.count(), 7);
    const Floats means = noise(rows, 8);
    const Floats inverses = noise(rows, 9);
    Doubles levels(width), slopes(width);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double d = d_y[i];
      levels[i % width] += d;
      slopes[i % width] += d * (static_cast<double>(x[i]) - static_cast<double>(means[i / width])) *
                           static_cast<double>(inverses[i / width]);
    }
    const std::size_t all = Columnwise{shape.rows, shape.width}.sums_of_runs();
    REQUIRE(all == (rows + 511) / 512 * width);
    const int each = norm_rows_each(shape.rows);
    const std::size_t of_norm = Columnwise{shape.rows, shape.width, each}.sums_of_runs();
    REQUIRE(of_norm == (rows + 31) / 32 * width);
    Floats gammas = poisoned(of_norm), betas = poisoned(of_norm), runs = poisoned(all);
    Floats d_x = poisoned(shape.count());
    run_both(
        [&] {
          return NormaliseBackward<NormKind::layer, float>{shape.rows,
                                                           shape.width,
                                                           each,
                                                           x.data(),
                                                           gamma.data(),
                                                           means.data(),
                                                           inverses.data(),
                                                           d_y.data(),
                                                           d_x.data(),
                                                           false,
                                                           nullptr,
                                                           gammas.data(),
                                                           betas.data()};
        },
        {&d_x, &gammas, &betas});
    run_both(
        [&] {
          return ColumnSums<float>{{shape.rows, shape.width}, d_y.data(), runs.data()};
        },
        {&runs});
    const auto queue = new_queue();
    const auto check_sum = [&](Floats& from, const Doubles& expected, int rows_each) {
      Floats sums = poisoned(width);
      RunSums whole(*queue, shape.rows, shape.width, from.data(), rows_each);
      whole.add_up(0, sums.data());
      queue->wait();
      if (from.size() == width) sums = from;  // a single run is written to its destination
      CHECK(worst(sums, expected) < 1e-5);
    };
    check_sum(gammas, slopes, each);
    check_sum(betas, levels, each);
    check_sum(runs, levels, Columnwise::k_rows_each);
  }
}

TEST_CASE("cross-entropy on a device is that of double precision, with smoothed labels too") {
  for (const Shape& shape : k_shapes)
    for (const float smoothing : {0.0F, 0.1F})
      for (const bool has_gradient : {false, true}) {
        CAPTURE(shape.width);
        CAPTURE(smoothing);
        const auto width = static_cast<std::size_t>(shape.width);
        const auto rows = static_cast<std::size_t>(shape.rows);
        const Floats logits = noise(shape.count(), 8, 9);
        std::vector<std::uint32_t> labels(rows);
        for (std::size_t row = 0; row < rows; ++row)
          labels[row] = static_cast<std::uint32_t>(dts::mix(row) % width);
        const float* const best = std::max_element(logits.data(), logits.data() + width);
        labels[0] = static_cast<std::uint32_t>(best - logits.data());
        Floats d = logits, losses = poisoned(rows), correct = poisoned(rows);
        const float scale = 0.25F;
        const auto kernel = [&]<class Value>(std::vector<Value>& of, std::size_t pitch) {
          return CrossEntropy<Value>{{shape.rows, shape.width},
                                     of.data(),
                                     labels.data(),
                                     scale,
                                     smoothing,
                                     has_gradient,
                                     losses.data(),
                                     correct.data(),
                                     static_cast<int>(pitch)};
        };
        run_both([&] { return kernel(d, 0); }, {&d, &losses, &correct});
        Doubles loss_expected(rows), d_expected(logits.begin(), logits.end());
        for (std::size_t row = 0; row < rows; ++row) {
          const float* const l = logits.data() + row * width;
          double sum = 0, total = 0;
          for (std::size_t i = 0; i < width; ++i) sum += std::exp(static_cast<double>(l[i]));
          const double log_sum = std::log(sum);
          for (std::size_t i = 0; i < width; ++i) total += log_sum - static_cast<double>(l[i]);
          const auto s = static_cast<double>(smoothing);
          loss_expected[row] = (1 - s) * (log_sum - l[labels[row]]) + s / shape.width * total;
          CHECK(correct[row] == (*std::max_element(l, l + width) == l[labels[row]] ? 1 : 0));
          for (std::size_t i = 0; has_gradient && i < width; ++i)
            d_expected[row * width + i] = 0.25 * (std::exp(l[i] - log_sum) - s / shape.width -
                                                  (i == labels[row] ? 1 - s : 0.0));
        }
        CHECK(correct[0] == 1);
        CHECK(worst(losses, loss_expected) < 5e-6);
        CHECK(worst(d, d_expected) < 1e-6);
        if (!has_gradient) continue;
        // Rounded gradients, in the memory of the logits.
        Bfloats gradient = rounded(logits);
        Floats of_rounded = widened(gradient);
        run_both([&] { return kernel(gradient, 0); }, {&gradient});
        run_both([&] { return kernel(of_rounded, 0); }, {&of_rounded});
        CHECK(gradient == rounded(of_rounded));
        // The same with gaps between rows.
        const std::size_t pitch = width + 5;
        Bfloats apart(rows * pitch, 7);
        for (std::size_t i = 0; i < logits.size(); ++i)
          apart[i / width * pitch + i % width] = rounded_to_bf16(logits[i]);
        run_both([&] { return kernel(apart, pitch); }, {&apart});
        for (std::size_t i = 0; i < apart.size(); ++i)
          CHECK(apart[i] == (i % pitch < width ? gradient[i / pitch * width + i % pitch] : 7));
      }
}

TEST_CASE("a quotient by a corrected reciprocal has the bits of a division") {
  const Floats logits = noise(100000, 1, 30);
  for (const float logit : logits) {
    const float power = std::exp(-std::abs(logit)), sum = 1 + std::exp(logit / 2);
    REQUIRE(quotient(power, sum, 1 / sum) == power / sum);
  }
}

TEST_CASE("of equal logits the first is the one that was chosen, as on the processor") {
  constexpr int k_width = 300;
  for (const std::uint32_t label : {0U, 7U, 290U}) {
    Bfloats logits = rounded(noise(k_width, 3));
    for (const std::size_t top : {7U, 270U, 290U}) logits[top] = rounded_to_bf16(2);
    Floats losses = poisoned(1), correct = poisoned(1);
    run_both(
        [&] {
          return CrossEntropy<Bfloat>{
              {1, k_width}, logits.data(), &label, 1, 0, false, losses.data(), correct.data()};
        },
        {&losses, &correct});
    CHECK(correct.front() == (label == 7 ? 1 : 0));
  }
}

TEST_CASE("cross-entropy of rising, equal, far and infinitely low logits is that of double") {
  constexpr int k_width = 700;
  Floats rising(k_width), equal(k_width, -3), far(k_width, -200);
  for (int i = 0; i < k_width; ++i)
    rising[static_cast<std::size_t>(i)] = 0.1F * static_cast<float>(i);
  far[650] = 300;
  Floats low = rising;
  for (std::size_t i = 0; i < low.size(); ++i)
    if (i % 256 < 40) low[i] = -std::numeric_limits<float>::infinity();
  for (const Floats& logits : {rising, equal, far, low}) {
    Floats d = logits, losses = poisoned(1), correct = poisoned(1);
    const std::uint32_t label = 650;
    run_both(
        [&] {
          return CrossEntropy<float>{
              {1, k_width}, d.data(), &label, 1, 0, true, losses.data(), correct.data()};
        },
        {&d, &losses, &correct});
    double sum = 0;
    for (const float one : logits)
      sum += std::exp(static_cast<double>(one) - static_cast<double>(logits[650]));
    CHECK(worst(losses, {std::log(sum)}) < 1e-5);
    Doubles expected;
    for (const float one : logits)
      expected.push_back(std::exp(static_cast<double>(one) - static_cast<double>(logits[650])) /
                         sum);
    expected[650] -= 1;
    CHECK(worst(d, expected) < 1e-6);
  }
}
