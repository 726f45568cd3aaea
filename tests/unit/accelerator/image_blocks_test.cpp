// SPDX-License-Identifier: Apache-2.0
// The blocks of image networks on a device against double precision: batch normalisation with ReLU,
// followed by a residual or max pooling; means of pixels; the shortcut into a narrower stage.
#include "core/train/accelerator/images/device_image_blocks.hpp"
#include "core/train/models/model_table.hpp"
#include "tests/unit/accelerator/images.hpp"

#include <array>
#include <functional>

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

constexpr double k_epsilon = 1e-5;

// The memory of one block on the host device.
class Memory {
 public:
  explicit Memory(const Layout& layout, Precision precision = Precision::fp32)
      : layout_(layout), products(*queue, precision) {
    pass = {true,
            fill(noise(layout.parameter_floats, 7)),
            fill(noise(layout.statistic_floats, 8, 0.5F)),
            fill(poisoned(layout.sum_floats()))};
    // Variances must not be negative.
    for (const Tensor& tensor : layout.statistics)
      if (tensor.values_per_sample != 0)
        for (std::size_t i = 0; i < tensor.count; ++i)
          const_cast<float*>(pass.running)[tensor.offset + i] += 1;  // NOLINT: its own
  }

  float* fill(const Floats& values) {
    float* const at = queue->allocate(values.size());
    queue->to_device(at, values.data(), values.size());
    queue->wait();
    return at;
  }

  float* images(const Floats& values) { return fill(stored(products, values)); }

  double* partials(const Images& shape) {
    return reinterpret_cast<double*>(fill(poisoned(2 * norm_partials(shape))));
  }

  [[nodiscard]] Floats parameter(const std::string& name) const {
    const Tensor& tensor = layout_.parameter(name);
    return {pass.weights + tensor.offset, pass.weights + tensor.offset + tensor.count};
  }

  [[nodiscard]] Floats gradient(const std::string& name) const {
    const Tensor& tensor = layout_.parameter(name);
    return {pass.sums + tensor.offset, pass.sums + tensor.offset + tensor.count};
  }

  [[nodiscard]] Floats statistic(const float* all, const std::string& name) const {
    const Tensor& tensor = layout_.statistic(name);
    return {all + tensor.offset, all + tensor.offset + tensor.count};
  }

  [[nodiscard]] Floats statistic(const std::string& name) const {
    return statistic(pass.sums + layout_.parameter_floats, name);
  }

  const Layout& layout_;
  std::unique_ptr<Queue> queue = new_queue();
  Products products;
  Pass pass;
};

Layout norm_layout(int channels, int pixels) {
  Layout layout;
  layout.add_parameter({.name = "other", .shape = {16}});
  add_batch_norm(layout, "bn", channels, pixels);
  return layout;
}

Floats copied(const float* from, std::size_t count) {
  return {from, from + count};
}

// The results of a block, forward and backward.
struct Results {
  Floats y, d_x, d_y, d_gamma, d_beta, mean, variance;
};

using MakeBlock =
    std::function<std::unique_ptr<Block>(Memory& memory, const Layout& layout, Edge in, Edge out)>;

Results run(const Layout& layout,
            Precision precision,
            const Images& in,
            std::size_t out,
            const MakeBlock& make) {
  Memory memory(layout, precision);
  const Edge from{memory.images(rounded_noise(in.count(), 1, 2)),
                  memory.fill(poisoned(in.count()))};
  const Edge to{memory.fill(poisoned(out)), memory.images(rounded_noise(out, 2))};
  memory.products.keep_rounded(from, in.count());
  const auto block = make(memory, layout, from, to);
  block->forward(memory.pass);
  block->backward(memory.pass);
  memory.queue->wait();
  return {images_at(memory.products, to.value, out),
          images_at(memory.products, from.gradient, in.count()),
          images_at(memory.products, to.gradient, out),
          memory.gradient("bn.weight"),
          memory.gradient("bn.bias"),
          memory.statistic("bn.running_mean"),
          memory.statistic("bn.running_var")};
}

Results run_both_orders(const Layout& layout,
                        Precision precision,
                        const Images& in,
                        std::size_t out,
                        const MakeBlock& make) {
  host_device::set_order(host_device::Order::descending);
  const Results first = run(layout, precision, in, out, make);
  host_device::set_order(host_device::Order::ascending);
  const Results given = run(layout, precision, in, out, make);
  CHECK(given.y == first.y);
  CHECK(given.d_x == first.d_x);
  CHECK(given.d_y == first.d_y);
  CHECK(given.d_gamma == first.d_gamma);
  CHECK(given.d_beta == first.d_beta);
  CHECK(given.mean == first.mean);
  CHECK(given.variance == first.variance);
  return given;
}

// Batch normalisation in double precision, with the gradient according to its definition.
struct Reference {
  Images shape;
  Doubles mean, variance, normal, scaled;
  Floats gamma;

  Reference(const Images& images, const Floats& x, const Floats& gammas, const Floats& betas)
      : shape(images),
        mean(gammas.size()),
        variance(gammas.size()),
        normal(x.size()),
        scaled(x.size()),
        gamma(gammas) {
    const std::size_t channels = gammas.size();
    const double rows = static_cast<double>(x.size() / channels);
    for (std::size_t i = 0; i < x.size(); ++i) mean[i % channels] += x[i] / rows;
    for (std::size_t i = 0; i < x.size(); ++i)
      variance[i % channels] += std::pow(x[i] - mean[i % channels], 2) / rows;
    for (std::size_t i = 0; i < x.size(); ++i) {
      normal[i] = (x[i] - mean[i % channels]) / std::sqrt(variance[i % channels] + k_epsilon);
      scaled[i] = normal[i] * gammas[i % channels] + betas[i % channels];
    }
  }

  // Converts the gradient of `scaled` to those of x, gamma and beta.
  [[nodiscard]] std::array<Doubles, 3> backward(const Doubles& d) const {
    const std::size_t channels = gamma.size();
    const double rows = static_cast<double>(d.size() / channels);
    std::array<Doubles, 3> all{Doubles(d.size()), Doubles(channels), Doubles(channels)};
    for (std::size_t i = 0; i < d.size(); ++i) {
      all[1][i % channels] += d[i] * normal[i];
      all[2][i % channels] += d[i];
    }
    for (std::size_t i = 0; i < d.size(); ++i) {
      const std::size_t c = i % channels;
      all[0][i] = gamma[c] / std::sqrt(variance[c] + k_epsilon) *
                  (d[i] - all[2][c] / rows - normal[i] * all[1][c] / rows);
    }
    return all;
  }
};

// For an image, which may be rounded.
double tolerance(Precision precision) {
  return precision == Precision::bf16 ? 0x1p-8 : 5e-6;
}

void check_sums(const Results& given,
                const Reference& reference,
                const Doubles& d,
                Precision precision) {
  const auto [d_x, d_gamma, d_beta] = reference.backward(d);
  CHECK(worst(given.mean, reference.mean) < 1e-6);
  CHECK(worst(given.variance, reference.variance) < 5e-6);
  CHECK(worst(given.d_x, d_x) < tolerance(precision));
  CHECK(worst(given.d_gamma, d_gamma) < 2e-5);
  CHECK(worst(given.d_beta, d_beta) < 2e-5);
}

// The first parameters of the layout, as Memory initialises them.
std::array<Floats, 2> gamma_and_beta(const Layout& layout) {
  const Memory memory(layout);
  return {memory.parameter("bn.weight"), memory.parameter("bn.bias")};
}

}  // namespace

TEST_CASE("batch normalisation with ReLU and a residual on a device is that of double precision") {
  for (const Images& shape : {Images{2, 16, 3, 5}, {4, 48, 1, 1}, {3, 32, 20, 23}})
    for (const int kind : {0, 1, 2, 3}) {
      const bool has_residual = kind % 2 == 1;
      const Precision precision = kind < 2 ? Precision::fp32 : Precision::bf16;
      CAPTURE(shape.channels);
      CAPTURE(has_residual);
      const Layout layout = norm_layout(shape.channels, shape.height * shape.width);
      const Floats residual = rounded_noise(shape.count(), 5);
      const Results given =
          run_both_orders(layout,
                          precision,
                          shape,
                          shape.count(),
                          [&](Memory& memory, const Layout& all, Edge in, Edge out) {
                            float* const added = has_residual ? memory.images(residual) : nullptr;
                            if (has_residual) memory.products.keep_rounded(added, residual.size());
                            return device_bn_relu(*memory.queue,
                                                  memory.products,
                                                  all,
                                                  "bn",
                                                  shape,
                                                  in,
                                                  out,
                                                  added,
                                                  memory.partials(shape));
                          });
      const auto [gamma, beta] = gamma_and_beta(layout);
      const Reference reference(shape, rounded_noise(shape.count(), 1, 2), gamma, beta);
      const Floats d_y = rounded_noise(shape.count(), 2);
      Doubles y(shape.count()), d(shape.count());
      for (std::size_t i = 0; i < y.size(); ++i) {
        const double sum = reference.scaled[i] + (has_residual ? residual[i] : 0);
        y[i] = std::max(sum, 0.0);
        d[i] = given.y[i] > 0 ? d_y[i] : 0;  // near zero as the device decided
        CHECK(given.d_y[i] == static_cast<float>(d[i]));
      }
      CHECK(worst(given.y, y) < tolerance(precision));
      check_sums(given, reference, d, precision);
    }
}

TEST_CASE("2x2 maxima of batch normalisation on a device are those of double precision") {
  for (const Images& shape : {Images{2, 16, 4, 6}, {1, 32, 2, 2}, {5, 48, 12, 14}})
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
      CAPTURE(shape.channels);
      const Layout layout = norm_layout(shape.channels, shape.height * shape.width);
      const Results given = run_both_orders(
          layout,
          precision,
          shape,
          shape.count() / 4,
          [&](Memory& memory, const Layout& all, Edge in, Edge out) {
            return device_bn_relu_pool(
                *memory.queue, memory.products, all, "bn", shape, in, out, memory.partials(shape));
          });
      const auto [gamma, beta] = gamma_and_beta(layout);
      const Reference reference(shape, rounded_noise(shape.count(), 1, 2), gamma, beta);
      const Floats d_y = rounded_noise(shape.count() / 4, 2);
      Doubles y(d_y.size()), d(shape.count());
      std::size_t to = 0;
      for (int n = 0; n < shape.batch; ++n)
        for (int block = 0; block < shape.channels; block += 16)
          for (int row = 0; row < shape.height; row += 2)
            for (int column = 0; column < shape.width; column += 2)
              for (int c = block; c < block + 16; ++c, ++to) {
                std::size_t top = place(shape, n, c, row, column);
                for (int i = 1; i < 4; ++i) {
                  const std::size_t at = place(shape, n, c, row + i / 2, column + i % 2);
                  if (reference.scaled[at] > reference.scaled[top]) top = at;
                }
                y[to] = std::max(reference.scaled[top], 0.0);
                if (given.y[to] > 0) d[top] = d_y[to];
              }
      CHECK(worst(given.y, y) < tolerance(precision));
      check_sums(given, reference, d, precision);
    }
}

TEST_CASE("of equal maxima the first gets the gradient, and none does below zero") {
  const Images shape{1, 16, 2, 2};
  const Layout layout = norm_layout(16, 4);
  Memory memory(layout);
  Floats x(shape.count(), 1.0F);
  for (std::size_t c = 0; c < 16; ++c) x[3 * 16 + c] = c % 2 == 0 ? 0.0F : 3.0F;
  const Edge in{memory.fill(x), memory.fill(poisoned(x.size()))};
  const Edge out{memory.fill(poisoned(16)), memory.fill(Floats(16, 1.0F))};
  Pass pass = memory.pass;
  Floats weights(layout.parameter_floats);
  for (std::size_t c = 0; c < 16; ++c) {
    weights[layout.parameter("bn.weight").offset + c] = 1;
    weights[layout.parameter("bn.bias").offset + c] = c < 4 ? -9.0F : 0.0F;
  }
  pass.weights = memory.fill(weights);
  const auto block = device_bn_relu_pool(
      *memory.queue, memory.products, layout, "bn", shape, in, out, memory.partials(shape));
  block->forward(pass);
  block->backward(pass);
  memory.queue->wait();
  const Floats d_beta = copied(pass.sums + layout.parameter("bn.bias").offset, 16);
  const Floats d_gamma = copied(pass.sums + layout.parameter("bn.weight").offset, 16);
  const double of_even = 0.25 / std::sqrt(3.0 / 16 + k_epsilon);
  const double of_odd = 1.5 / std::sqrt(0.75 + k_epsilon);
  for (std::size_t c = 0; c < 16; ++c) {
    CHECK(d_beta[c] == (c < 4 ? 0 : 1));
    CHECK(static_cast<double>(d_gamma[c]) == doctest::Approx(c < 4        ? 0
                                                             : c % 2 == 0 ? of_even
                                                                          : of_odd));
  }
  const std::size_t even = 4;  // a channel with three equal values, the first of which is chosen
  const float* const d_x = in.gradient;
  CHECK(d_x[even] > d_x[16 + even]);
  CHECK(d_x[16 + even] == d_x[32 + even]);
}

TEST_CASE("an evaluation on a device takes the running statistics and writes no sums") {
  const Images shape{2, 16, 4, 4};
  const Layout layout = norm_layout(16, 16);
  Memory memory(layout);
  const Floats x = noise(shape.count(), 1, 2);
  const Edge in{memory.fill(x), nullptr};
  const Edge out{memory.fill(poisoned(shape.count())), nullptr};
  Pass pass = memory.pass;
  pass.training = false;
  pass.sums = nullptr;
  device_bn_relu(
      *memory.queue, memory.products, layout, "bn", shape, in, out, nullptr, memory.partials(shape))
      ->forward(pass);
  memory.queue->wait();
  const Floats mean = memory.statistic(pass.running, "bn.running_mean");
  const Floats variance = memory.statistic(pass.running, "bn.running_var");
  const auto [gamma, beta] = gamma_and_beta(layout);
  Doubles y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % 16;
    y[i] =
        std::max(0.0, (x[i] - mean[c]) / std::sqrt(variance[c] + k_epsilon) * gamma[c] + beta[c]);
  }
  CHECK(worst(copied(out.value, x.size()), y) < 5e-6);
}

TEST_CASE("means of pixels and their gradients on a device are those of double precision") {
  for (const Images& shape : {Images{3, 32, 8, 8}, {1, 16, 1, 1}, {2, 48, 7, 7}}) {
    const auto all = static_cast<std::size_t>(shape.batch * shape.channels);
    const auto pixels = shape.count() / all;
    const Floats x = noise(shape.count(), 1);
    const Floats d = noise(all, 2);
    Floats means = poisoned(all), d_x = poisoned(shape.count());
    run_both(
        [&] {
          return PixelMeans<float>{
              shape.batch, static_cast<int>(pixels), shape.channels, x.data(), means.data()};
        },
        {&means});
    run_both(
        [&] {
          return PixelMeansBackward<float>{{shape.batch * static_cast<int>(pixels), shape.channels},
                                           static_cast<int>(pixels),
                                           d.data(),
                                           d_x.data()};
        },
        {&d_x});
    Doubles expected(all), d_expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto channels = static_cast<std::size_t>(shape.channels);
      const std::size_t to = i / channels / pixels * channels + i % channels;
      expected[to] += static_cast<double>(x[i]) / static_cast<double>(pixels);
      d_expected[i] = static_cast<double>(d[to]) / static_cast<double>(pixels);
    }
    CHECK(worst(means, expected) < 1e-6);
    CHECK(worst(d_x, d_expected) < 1e-6);
  }
}

TEST_CASE("the shortcut on a device takes every second pixel, between channels of zeros") {
  for (const auto& size : {std::pair{6, 8}, {5, 7}, {1, 1}}) {
    const int height = size.first, width = size.second;
    const Images from{2, 32, height, width};
    const Images to{2, 64, (height + 1) / 2, (width + 1) / 2};
    const int rows = to.batch * to.height * to.width;
    const Floats x = noise(from.count(), 1);
    const Floats d_y = noise(to.count(), 2);
    Floats y = poisoned(to.count()), d_x = x;
    run_both([&] { return Narrow<float>{{rows, 64}, {height, width}, x.data(), y.data()}; }, {&y});
    run_both(
        [&] {
          return NarrowBackward<float>{{rows, 32}, {height, width}, d_y.data(), d_x.data()};
        },
        {&d_x});
    Floats expected(to.count()), d_expected = x;
    for (int n = 0; n < 2; ++n)
      for (int row = 0; row < to.height; ++row)
        for (int column = 0; column < to.width; ++column)
          for (int c = 0; c < 32; ++c) {
            const std::size_t at = place(from, n, c, 2 * row, 2 * column);
            const std::size_t there = place(to, n, c + 16, row, column);
            expected[there] = x[at];
            d_expected[at] += d_y[there];
          }
    CHECK(y == expected);
    CHECK(d_x == d_expected);
  }
}

TEST_CASE("ReLU on a device keeps what is above zero, and a NaN") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Floats y = noise(700, 1);
  y[3] = nan;
  y[4] = 0;
  const Floats before = y;
  Floats d(700, 1.0F);
  run_both([&] { return Relu{{y.size()}, y.data()}; }, {&y});
  run_both([&] { return ReluBackward{{y.size()}, y.data(), d.data()}; }, {&d});
  CHECK(std::isnan(y[3]));
  for (std::size_t i = 4; i < y.size(); ++i) {
    CHECK(y[i] == std::max(before[i], 0.0F));
    CHECK(d[i] == (before[i] > 0 ? 1 : 0));
  }
}
