// SPDX-License-Identifier: Apache-2.0
// Offsets of tensors, and their initial values.
#include "core/train/model/layout.hpp"

#include "core/base/random.hpp"
#include "core/train/device/elementary.hpp"

#include <algorithm>
#include <cmath>

namespace dts::train {
namespace {

constexpr std::size_t k_align = 16;  // floats per cache line and per vector

std::size_t padded(std::size_t count) {
  return (count + k_align - 1) / k_align * k_align;
}

void append(std::vector<Tensor>& tensors, std::size_t& total, Tensor tensor) {
  tensor.count = 1;
  for (const int extent : tensor.shape) tensor.count *= static_cast<std::size_t>(extent);
  tensor.offset = total;
  total += padded(tensor.count);
  tensors.push_back(std::move(tensor));
}

const Tensor& find(const std::vector<Tensor>& tensors, const std::string& name) {
  return *std::find_if(
      tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
}

// In [0, 1), a multiple of 2^-53.
double unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

// Standard normal: G. E. P. Box and M. E. Muller, "A note on the generation of random normal
// deviates", 1958, with the cosine's argument in [0, pi].
double normal(std::uint64_t bits) {
  const double radius = std::sqrt(-2 * portable_log(1 - unit(bits)));
  return radius * cosine_of_pi(unit(mix(bits)));
}

void fill(const Tensor& tensor, std::uint64_t seed, float* values) {
  if (tensor.init == Init::zeros || tensor.init == Init::ones) {
    std::fill_n(values, tensor.count, tensor.init == Init::ones ? 1.0F : 0.0F);
    return;
  }
  const bool is_normal = tensor.init == Init::normal;
  const double bound =
      is_normal ? static_cast<double>(tensor.deviation) : 1.0 / std::sqrt(tensor.fan_in);
  for (std::size_t i = 0; i < tensor.count; ++i) {
    const std::uint64_t bits = mix(mix(seed) ^ (tensor.offset + i));
    values[i] = static_cast<float>(bound * (is_normal ? normal(bits) : 2 * unit(bits) - 1));
  }
}

}  // namespace

void Layout::add_parameter(Tensor tensor) {
  append(parameters, parameter_floats, std::move(tensor));
}

void Layout::add_statistic(Tensor tensor) {
  append(statistics, statistic_floats, std::move(tensor));
}

void Layout::add_ballast(int mib) {
  constexpr int k_mib = 1 << 18;  // floats
  if (mib > 0)
    append(ballast, ballast_floats, {"ballast", {mib, k_mib}, 0, 0, Init::fan_in_uniform, k_mib});
}

const Tensor& Layout::parameter(const std::string& name) const {
  return find(parameters, name);
}

const Tensor& Layout::statistic(const std::string& name) const {
  return find(statistics, name);
}

Range Layout::range(const std::string& first, const std::string& last) const {
  const Tensor& end = parameter(last);
  return {parameter(first).offset, end.offset + padded(end.count)};
}

void initial_weights(const Layout& layout, std::uint64_t seed, float* weights) {
  std::fill_n(weights, layout.parameter_floats, 0.0F);
  for (const Tensor& tensor : layout.parameters) initial_weights(tensor, seed, weights);
}

void initial_weights(const Tensor& tensor, std::uint64_t seed, float* weights) {
  fill(tensor, seed, weights + tensor.offset);
}

void initial_statistics(const Layout& layout, float* statistics) {
  std::fill_n(statistics, layout.statistic_floats, 0.0F);
  for (const Tensor& tensor : layout.statistics) fill(tensor, 0, statistics + tensor.offset);
}

void initial_ballast(const Layout& layout, float* ballast) {
  for (const Tensor& tensor : layout.ballast) fill(tensor, 0, ballast + tensor.offset);
}

}  // namespace dts::train
