// SPDX-License-Identifier: Apache-2.0
// Layout of cnn2 and its initial weights.
#include "core/train/model/layout.hpp"

#include "core/train/data/sampler.hpp"

#include <algorithm>
#include <cmath>

namespace dts::train {
namespace {

constexpr std::size_t k_align = 16;  // floats per cache line and per vector

void append(std::vector<Tensor>& tensors, std::size_t& total, Tensor tensor) {
  tensor.count = 1;
  for (const int extent : tensor.shape) tensor.count *= static_cast<std::size_t>(extent);
  tensor.offset = total;
  total += (tensor.count + k_align - 1) / k_align * k_align;
  tensors.push_back(std::move(tensor));
}

void append_conv(Layout& layout, const std::string& index, int in, int out) {
  const auto parameter = [&](Tensor t) {
    append(layout.parameters, layout.parameter_floats, std::move(t));
  };
  const auto statistic = [&](Tensor t) {
    append(layout.statistics, layout.statistic_floats, std::move(t));
  };
  parameter({"conv" + index + ".weight", {out, in, 3, 3}, 0, 0, Init::fan_in_uniform, in * 9});
  parameter({"bn" + index + ".weight", {out}, 0, 0, Init::ones, 0});
  parameter({"bn" + index + ".bias", {out}, 0, 0, Init::zeros, 0});
  statistic({"bn" + index + ".running_mean", {out}, 0, 0, Init::zeros, 0});
  statistic({"bn" + index + ".running_var", {out}, 0, 0, Init::ones, 0});
}

void append_linear(Layout& layout, const std::string& name, int in, int out, int pixels = 0) {
  append(layout.parameters,
         layout.parameter_floats,
         {name + ".weight", {out, in}, 0, 0, Init::fan_in_uniform, in, pixels});
  append(layout.parameters, layout.parameter_floats, {name + ".bias", {out}, 0, 0, Init::zeros, 0});
}

const Tensor& find(const std::vector<Tensor>& tensors, const std::string& name) {
  return *std::find_if(
      tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
}

void fill(const Tensor& tensor, std::uint64_t seed, float* values) {
  if (tensor.init != Init::fan_in_uniform) {
    std::fill_n(values, tensor.count, tensor.init == Init::ones ? 1.0F : 0.0F);
    return;
  }
  const double bound = 1.0 / std::sqrt(tensor.fan_in);
  for (std::size_t i = 0; i < tensor.count; ++i) {
    const std::uint64_t bits = mix(mix(seed) ^ (tensor.offset + i));
    const double unit = static_cast<double>(bits >> 11) * 0x1.0p-53;
    values[i] = static_cast<float>(bound * (2 * unit - 1));
  }
}

}  // namespace

const Tensor& Layout::parameter(const std::string& name) const {
  return find(parameters, name);
}

const Tensor& Layout::statistic(const std::string& name) const {
  return find(statistics, name);
}

Layout cnn2_layout(int ballast) {
  Layout layout;
  append_conv(layout, "1", 1, Cnn2::channels1);
  append_conv(layout, "2", Cnn2::channels1, Cnn2::channels2);
  append_linear(layout, "fc1", Cnn2::features, Cnn2::hidden, Cnn2::features / Cnn2::channels2);
  append_linear(layout, "fc2", Cnn2::hidden, Cnn2::classes);
  constexpr int k_mib = 1 << 18;  // floats
  if (ballast > 0)
    append(layout.ballast,
           layout.ballast_floats,
           {"ballast", {ballast, k_mib}, 0, 0, Init::fan_in_uniform, k_mib});
  return layout;
}

void initial_weights(const Layout& layout, std::uint64_t seed, float* weights) {
  std::fill_n(weights, layout.parameter_floats, 0.0F);
  for (const Tensor& tensor : layout.parameters) fill(tensor, seed, weights + tensor.offset);
}

void initial_statistics(const Layout& layout, float* statistics) {
  std::fill_n(statistics, layout.statistic_floats, 0.0F);
  for (const Tensor& tensor : layout.statistics) fill(tensor, 0, statistics + tensor.offset);
}

void initial_ballast(const Layout& layout, float* ballast) {
  for (const Tensor& tensor : layout.ballast) fill(tensor, 0, ballast + tensor.offset);
}

}  // namespace dts::train
