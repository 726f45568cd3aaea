// SPDX-License-Identifier: Apache-2.0
// The functions of DeviceBlocks for image networks.
#include "core/train/accelerator/device_blocks.hpp"
#include "core/train/accelerator/images/device_image_blocks.hpp"

namespace dts::train::accelerator {

double* DeviceBlocks::partials(const Images& shape) {
  constexpr std::size_t k_floats = sizeof(double) / sizeof(float);
  return reinterpret_cast<double*>(scratch(2, k_floats * norm_partials(shape)));
}

std::unique_ptr<Block> DeviceBlocks::convolution(Range weights,
                                                 const DeviceConvolutionShape& shape,
                                                 Edge in,
                                                 Edge out) {
  const Scratch shared = [this](std::size_t number, std::size_t count) {
    return scratch(number, count);
  };
  return device_convolution(queue_, products_, shared, weights, shape, in, out);
}

std::unique_ptr<Block> DeviceBlocks::first_convolution(
    const Layout& layout, const std::string& name, const Images& out_shape, Edge in, Edge out) {
  const Images of_input{out_shape.batch, 1, out_shape.height, out_shape.width};
  return convolution(layout.range(name + ".weight", name + ".weight"),
                     {{of_input, out_shape.channels}, {true, 1}},
                     in,
                     out);
}

std::unique_ptr<Block> DeviceBlocks::convolution(const Layout& layout,
                                                 const std::string& name,
                                                 const ConvolutionShape& shape,
                                                 Edge in,
                                                 Edge out) {
  const bool is_input = shape.in.channels % k_lanes != 0;
  return convolution(
      layout.range(name + ".weight", name + ".weight"), {shape, {is_input, 0}}, in, out);
}

std::unique_ptr<Block> DeviceBlocks::bn_relu_pool(
    const Layout& layout, const std::string& name, const Images& in_shape, Edge in, Edge out) {
  return device_bn_relu_pool(
      queue_, products_, layout, name, in_shape, in, out, partials(in_shape));
}

std::unique_ptr<Block> DeviceBlocks::linear(
    const Layout& layout, const std::string& name, const LinearShape& shape, Edge in, Edge out) {
  auto product = projection(layout,
                            {.weight = name + ".weight",
                             .bias = name + ".bias",
                             .rows = shape.batch,
                             .in = shape.in,
                             .out = shape.out},
                            in,
                            out);
  if (!shape.relu) return product;
  const std::size_t count =
      static_cast<std::size_t>(shape.batch) * static_cast<std::size_t>(shape.out);
  return device_relu_after(queue_, std::move(product), count, out);
}

std::unique_ptr<Block> DeviceBlocks::bn_relu(const Layout& layout,
                                             const std::string& name,
                                             const Images& shape,
                                             Edge in,
                                             Edge out,
                                             const float* residual) {
  return device_bn_relu(queue_, products_, layout, name, shape, in, out, residual, partials(shape));
}

std::unique_ptr<Block> DeviceBlocks::gradient_sum(std::size_t count, Edge in, const float* branch) {
  return device_gradient_sum(queue_, products_, count, in, branch);
}

std::unique_ptr<Block> DeviceBlocks::narrowing_shortcut(const Images& in_shape, Edge in, Edge out) {
  return device_narrowing_shortcut(queue_, products_, in_shape, in, out);
}

std::unique_ptr<Block> DeviceBlocks::average_pool(const Images& in_shape, Edge in, Edge out) {
  return device_average_pool(queue_, products_, in_shape, in, out);
}

}  // namespace dts::train::accelerator
