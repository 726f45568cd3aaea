// SPDX-License-Identifier: Apache-2.0
// The blocks of residual networks: forward passes against a double-precision reference, gradients
// against finite differences of it.
#include "core/train/model/image_blocks.hpp"

#include "core/train/models/model_table.hpp"
#include "tests/unit/train/block_bench.hpp"
#include "tests/unit/train/gradient_check.hpp"

#include <doctest/doctest.h>

using namespace dts::train;
using reference::check_gradient;
using reference::check_values;
using reference::Values;

namespace {

constexpr int k_images = 3;

Layout convolution_layout(int in, int out) {
  return layout_of({{"conv.weight", {out, in, 3, 3}}});
}

Layout norm_layout(int channels) {
  Layout layout;
  add_batch_norm(layout, "bn", channels, 1);
  return layout;
}

// Pixels that float can represent, so that rounding does not break ties.
Values rounded(Values values) {
  for (double& v : values) v = static_cast<double>(static_cast<float>(3 * v + 1));
  return values;
}

// A pixel of an image with one channel after another, as in samples.
double plain(const Images& s, const Values& x, int n, int c, int y, int col) {
  return x[static_cast<std::size_t>(((n * s.channels + c) * s.height + y) * s.width + col)];
}

}  // namespace

TEST_CASE("a convolution and its gradients, of both strides, of even and odd sizes") {
  for (const ConvolutionShape& convolved : {ConvolutionShape{{2, 16, 6, 6}, 32, 1},
                                            {{2, 16, 6, 6}, 32, 2},
                                            {{k_images, 16, 5, 7}, 32, 2}}) {
    Bench bench(convolution_layout(16, 32));
    const Images& shape = convolved.in;
    const Images to = convolved.out();
    CHECK(to.height == (convolved.stride == 1 ? 6 : 3));
    Activation in(shape.count());
    Activation out(to.count());
    const Values x = reference::random_values(shape.count(), 1);
    const Values w = reference::random_values(32 * 144, 2);
    const Values objective = reference::random_values(to.count(), 3);
    fill(in.value, x);
    bench.set("conv.weight", w);
    const auto forward = [&](const Values& input, const Values& weights) {
      return reference::convolution(
          shape,
          to,
          [&](int n, int c, int y, int col) { return input[reference::at(shape, n, c, y, col)]; },
          weights);
    };
    const auto block = convolution(bench.layout, "conv", convolved, in.edge(), out.edge());
    bench.run(*block, out, objective);
    check_values(out.value.data(), forward(x, w), 1e-4);
    check_gradient(
        bench.gradient("conv.weight"),
        [&](const Values& v) { return reference::dot(forward(x, v), objective); },
        w,
        1e-5);
    check_gradient(
        in.gradient.data(),
        [&](const Values& v) { return reference::dot(forward(v, w), objective); },
        x,
        1e-5);
  }
}

TEST_CASE("the convolution of a model's input, of one and of three channels") {
  for (const int channels : {1, 3}) {
    Bench bench(convolution_layout(channels, 16));
    const Images shape{k_images, channels, 8, 8};
    const ConvolutionShape convolved{shape, 16};
    Buffer in(shape.count());
    Activation out(convolved.out().count());
    const Values x = reference::random_values(shape.count(), 4);
    const Values w = reference::random_values(static_cast<std::size_t>(16 * channels * 9), 5);
    const Values objective = reference::random_values(convolved.out().count(), 6);
    fill(in, x);
    bench.set("conv.weight", w);
    const auto forward = [&](const Values& weights) {
      return reference::convolution(
          shape,
          convolved.out(),
          [&](int n, int c, int y, int col) { return plain(shape, x, n, c, y, col); },
          weights);
    };
    const auto block =
        convolution(bench.layout, "conv", convolved, {in.data(), nullptr}, out.edge());
    bench.run(*block, out, objective);
    check_values(out.value.data(), forward(w), 1e-4);
    check_gradient(
        bench.gradient("conv.weight"),
        [&](const Values& v) { return reference::dot(forward(v), objective); },
        w,
        1e-5);
  }
}

TEST_CASE("batch normalisation, a residual and ReLU, and their gradients through the statistics") {
  for (const bool has_residual : {false, true}) {
    const Images shape{k_images, 32, 7, 7};
    Bench bench(norm_layout(32));
    Activation in(shape.count());
    Activation out(shape.count());
    Buffer stream(shape.count());
    const Values x = rounded(reference::random_values(shape.count(), 7));
    const Values residual =
        has_residual ? rounded(reference::random_values(shape.count(), 8)) : Values(shape.count());
    const Values gamma = reference::random_values(32, 9);  // of both signs
    const Values beta = reference::random_values(32, 10);
    const Values objective = reference::random_values(shape.count(), 11);
    fill(in.value, x);
    fill(stream, residual);
    bench.set("bn.weight", gamma);
    bench.set("bn.bias", beta);
    const auto forward =
        [&](const Values& input, const Values& r, const Values& g, const Values& b) {
          Values y = reference::batch_norm(shape, input, g, b);
          for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::max(0.0, y[i] + r[i]);
          return y;
        };
    const auto f = [&](const Values& input, const Values& r, const Values& g, const Values& b) {
      return reference::dot(forward(input, r, g, b), objective);
    };
    const auto block = bn_relu(
        bench.layout, "bn", shape, in.edge(), out.edge(), has_residual ? stream.data() : nullptr);
    bench.run(*block, out, objective);
    check_values(out.value.data(), forward(x, residual, gamma, beta), 1e-5);
    check_gradient(
        bench.gradient("bn.weight"),
        [&](const Values& v) { return f(x, residual, v, beta); },
        gamma,
        1e-4);
    check_gradient(
        bench.gradient("bn.bias"),
        [&](const Values& v) { return f(x, residual, gamma, v); },
        beta,
        1e-4);
    check_gradient(
        in.gradient.data(), [&](const Values& v) { return f(v, residual, gamma, beta); }, x, 1e-4);
    check_gradient(
        out.gradient.data(), [&](const Values& v) { return f(x, v, gamma, beta); }, residual, 1e-4);
  }
}

TEST_CASE("without training, batch normalisation takes the running statistics") {
  const Images shape{1, 16, 2, 2};
  const Layout layout = norm_layout(16);
  Buffer weights(layout.parameter_floats);
  Buffer running(layout.statistic_floats);
  Activation in(shape.count());
  Activation out(shape.count());
  initial_weights(layout, 1, weights.data());
  initial_statistics(layout, running.data());
  for (int c = 0; c < 16; ++c) running.data()[c] = -2;
  const auto block = bn_relu(layout, "bn", shape, in.edge(), out.edge());
  block->forward({false, weights.data(), running.data(), nullptr});
  CHECK(out.value.data()[5] == doctest::Approx(2.0).epsilon(1e-4));
}

TEST_CASE("the shortcut into a narrower stage, between channels of zeros, adds its gradient") {
  for (const Images& shape : {Images{k_images, 16, 14, 14}, Images{2, 32, 7, 7}}) {
    const Images to{shape.batch, 2 * shape.channels, (shape.height + 1) / 2, (shape.width + 1) / 2};
    Activation in(shape.count());
    Activation out(to.count());
    const Values x = reference::random_values(shape.count(), 12);
    const Values d_x = reference::random_values(shape.count(), 13);
    const Values objective = reference::random_values(to.count(), 14);
    fill(in.value, x);
    fill(in.gradient, d_x);
    Bench bench(norm_layout(16));
    const auto forward = [&](const Values& input) {
      Values y(to.count());
      for (int n = 0; n < to.batch; ++n)
        for (int c = 0; c < shape.channels; ++c)
          for (int row = 0; row < to.height; ++row)
            for (int col = 0; col < to.width; ++col)
              y[reference::at(to, n, c + shape.channels / 2, row, col)] =
                  input[reference::at(shape, n, c, 2 * row, 2 * col)];
      return y;
    };
    const auto block = narrowing_shortcut(shape, in.edge(), out.edge());
    bench.run(*block, out, objective);
    check_values(out.value.data(), forward(x), 1e-7);
    check_gradient(
        in.gradient.data(),
        [&](const Values& v) {
          return reference::dot(forward(v), objective) + reference::dot(v, d_x);
        },
        x,
        1e-5);
  }
}

TEST_CASE("the mean over pixels and its gradient, and the sum of two readers' gradients") {
  const Images shape{k_images, 32, 7, 7};
  Bench bench(norm_layout(16));
  Activation in(shape.count());
  Activation out(static_cast<std::size_t>(shape.batch * shape.channels));
  const Values x = reference::random_values(shape.count(), 15);
  const Values objective = reference::random_values(out.value.size(), 16);
  fill(in.value, x);
  const auto forward = [&](const Values& input) {
    Values means(out.value.size());
    for (int n = 0; n < shape.batch; ++n)
      for (int c = 0; c < shape.channels; ++c)
        for (int i = 0; i < 49; ++i)
          means[static_cast<std::size_t>(n * shape.channels + c)] +=
              input[reference::at(shape, n, c, i / 7, i % 7)] / 49;
    return means;
  };
  const auto block = average_pool(shape, in.edge(), out.edge());
  bench.run(*block, out, objective);
  check_values(out.value.data(), forward(x), 1e-6);
  const auto f = [&](const Values& v) { return reference::dot(forward(v), objective); };
  check_gradient(in.gradient.data(), f, x, 1e-5);

  const Values other = reference::random_values(shape.count(), 17);
  Buffer branch(shape.count());
  fill(branch, other);
  gradient_sum(shape.count(), in.edge(), branch.data())->backward(bench.pass);
  check_gradient(
      in.gradient.data(),
      [&](const Values& v) { return f(v) + reference::dot(v, other); },
      x,
      1e-5);
}
