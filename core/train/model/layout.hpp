// SPDX-License-Identifier: Apache-2.0
// The position of each tensor of a model in the flat arrays of weights, statistics and sums. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dts::train {

enum class Init {
  fan_in_uniform,  // U(-b, b), b = 1 / sqrt(fan_in): what PyTorch gives convolutions and linear
                   // layers
  zeros,
  ones,
};

struct Tensor {
  std::string name;        // "conv1.weight", as PyTorch would name it
  std::vector<int> shape;  // row-major
  std::size_t offset = 0;  // in floats, a multiple of 16
  std::size_t count = 0;
  Init init = Init::zeros;
  int fan_in = 0;
  // Of a linear layer whose inputs are an image: its pixels. The columns of a row are ordered
  // [channel / 16][pixel][channel % 16] here, [channel][pixel] in PyTorch.
  int pixels = 0;
};

// The sums over shards of one training step are a single array: gradients (offsets of the
// parameters), then batch statistics (offsets of the statistics), then these.
enum class Scalar : std::size_t { loss, correct, stop, error, save, writing, damage, count = 16 };

struct Layout {
  std::vector<Tensor> parameters;
  std::vector<Tensor> statistics;    // running mean and variance of each batch normalisation
  std::vector<Tensor> ballast;       // empty, or one tensor that only makes the state larger
  std::size_t parameter_floats = 0;  // with padding; the padding is always zero
  std::size_t statistic_floats = 0;
  std::size_t ballast_floats = 0;

  [[nodiscard]] const Tensor& parameter(const std::string& name) const;  // must exist
  [[nodiscard]] const Tensor& statistic(const std::string& name) const;  // must exist

  // Of the sums that are not gradients.
  [[nodiscard]] std::size_t tail_floats() const { return sum_floats() - parameter_floats; }

  [[nodiscard]] std::size_t sum_floats() const {
    return parameter_floats + statistic_floats + static_cast<std::size_t>(Scalar::count);
  }

  [[nodiscard]] std::size_t scalar(Scalar which) const {
    return parameter_floats + statistic_floats + static_cast<std::size_t>(which);
  }
};

// The constants of cnn2: 28x28 images of one channel, ten classes.
struct Cnn2 {
  static constexpr int side = 28;
  static constexpr int channels1 = 16;
  static constexpr int channels2 = 32;
  static constexpr int features = channels2 * (side / 4) * (side / 4);
  static constexpr int hidden = 128;
  static constexpr int classes = 10;
};

// conv 3x3 1->16, BN, ReLU, pool; conv 3x3 16->32, BN, ReLU, pool; 1568->128, ReLU; 128->10. 2.4
// MFLOP forward per image. The inputs of fc1 are ordered [channel / 16][y][x][channel % 16].
// `ballast`: MiB of it.
[[nodiscard]] Layout cnn2_layout(int ballast = 0);

// The initial weights: a pure function of (seed, index of the element), without generator state.
void initial_weights(const Layout& layout, std::uint64_t seed, float* weights);

// The initial running statistics: mean 0, variance 1.
void initial_statistics(const Layout& layout, float* statistics);

// The initial ballast, a function of the index of the element.
void initial_ballast(const Layout& layout, float* ballast);

}  // namespace dts::train
