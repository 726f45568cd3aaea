// SPDX-License-Identifier: Apache-2.0
// The position of each tensor of a model in the flat arrays of weights, statistics and sums. Pure.
#pragma once

#include "core/train/memory/range.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dts::train {

// The largest number of parameters of a model. Their chunks of 1,024, the units of ownership and
// checksums (update/chunk_grid.hpp), are counted in 31 bits, as are the sizes of a single matrix.
inline constexpr std::size_t k_most_parameters = std::size_t{1} << 40;

enum class Init {
  fan_in_uniform,  // U(-b, b), b = 1 / sqrt(fan_in): PyTorch's default for convolutions and linear
                   // layers
  zeros,
  ones,
  normal,  // N(0, deviation^2)
};

struct Tensor {
  std::string name;        // "conv1.weight", as PyTorch would name it
  std::vector<int> shape;  // row-major
  std::size_t offset = 0;  // in floats, a multiple of 16
  std::size_t count = 0;
  Init init = Init::zeros;
  int fan_in = 0;
  // For a linear layer whose inputs are an image: the number of its pixels. The columns of a row
  // are ordered [channel / 16][pixel][channel % 16] here, and [channel][pixel] in PyTorch.
  int pixels = 0;
  float deviation = 0;  // standard deviation of Init::normal
  // For a running variance: the number of values per sample that it is computed from. 0: not a
  // variance.
  int values_per_sample = 0;

  // Matrices, embeddings and convolutions decay; norms and biases, which have one dimension, do
  // not.
  [[nodiscard]] bool decays() const { return shape.size() > 1; }
};

// The sums over shards of a training step are a single array: gradients (at the offsets of the
// parameters), then batch statistics (at the offsets of the statistics), then these scalars.
enum class Scalar : std::size_t {
  loss,
  correct,
  stop,
  error,
  save,
  writing,
  damage,
  squares,
  count = 16
};

struct Layout {
  std::vector<Tensor> parameters;    // in canonical order: of the flat array and of files
  std::vector<Tensor> statistics;    // running mean and variance of each batch normalisation
  std::vector<Tensor> ballast;       // empty, or one tensor that only enlarges the state
  std::size_t parameter_floats = 0;  // with padding; the padding is always zero
  std::size_t statistic_floats = 0;
  std::size_t ballast_floats = 0;
  // The names of the optimiser's moments of each parameter, as in checkpoints.
  std::vector<std::string> moments{"momentum"};

  // Appends a tensor with the given name, shape and initial values; sets its offset and count.
  void add_parameter(Tensor tensor);
  void add_statistic(Tensor tensor);
  // Appends a ballast tensor of `mib` MiB; 0: none.
  void add_ballast(int mib);

  [[nodiscard]] const Tensor& parameter(const std::string& name) const;  // must exist
  [[nodiscard]] const Tensor& statistic(const std::string& name) const;  // must exist

  // From the first of two parameters to the end of the second, including padding.
  [[nodiscard]] Range range(const std::string& first, const std::string& last) const;

  // The number of sums that are not gradients.
  [[nodiscard]] std::size_t tail_floats() const { return sum_floats() - parameter_floats; }

  [[nodiscard]] std::size_t sum_floats() const {
    return parameter_floats + statistic_floats + static_cast<std::size_t>(Scalar::count);
  }

  [[nodiscard]] std::size_t scalar(Scalar which) const {
    return parameter_floats + statistic_floats + static_cast<std::size_t>(which);
  }

  // The offset of a scalar in the tail.
  [[nodiscard]] std::size_t in_tail(Scalar which) const { return scalar(which) - parameter_floats; }

  // All moments of all parameters, one moment after another.
  [[nodiscard]] std::size_t moment_floats() const { return parameter_floats * moments.size(); }
};

// The initial weights: a pure function of (seed, index of the element), without generator state.
void initial_weights(const Layout& layout, std::uint64_t seed, float* weights);

// The initial weights of one tensor; `weights` is the array of all tensors.
void initial_weights(const Tensor& tensor, std::uint64_t seed, float* weights);

// The initial running statistics: mean 0, variance 1.
void initial_statistics(const Layout& layout, float* statistics);

// The initial ballast, a function of the index of the element.
void initial_ballast(const Layout& layout, float* ballast);

}  // namespace dts::train
