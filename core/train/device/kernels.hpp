// SPDX-License-Identifier: Apache-2.0
// The trainer's own single-threaded kernels, for what oneDNN lacks or computes slowly.
//
// Images are stored in blocks of 16 channels, [n][c / 16][h][w][16] (oneDNN's nChw16c), so that one
// vector holds 16 channels of a pixel. Results depend on the instruction set (instruction_set.hpp),
// but not on the thread. Thread-safe on disjoint outputs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dts::train {

inline constexpr int k_lanes = 16;

// sums[i] = left[i] + right[i], where `sums` may be either.
void add(float* sums, const float* left, const float* right, std::size_t count);

// Flat arrays of equal length.
struct Parameters {
  float* weights = nullptr;
  float* momentum = nullptr;
};

struct CurrentParameters {
  const float* weights = nullptr;
  const float* momentum = nullptr;
};

struct Gradients {
  const float* values = nullptr;
  std::size_t count = 0;
  float lr = 0;
  float beta = 0;  // of momentum
};

// Momentum SGD as in PyTorch: m' = beta * m + g; w' = w - lr * m'. `next` may equal `now`, and the
// gradients may be in the array of the next weights.
void sgd(const Parameters& next, const CurrentParameters& now, const Gradients& by);

// A polynomial hash of `count` floats (a multiple of 16) as 32-bit words, lane by lane, with an odd
// factor: it detects every change within one word, and misses other changes with probability 2^-32
// (J. L. Carter and M. N. Wegman, "Universal classes of hash functions", 1979). Uses only integers,
// so it does not depend on the instruction set; runs at memory speed, unlike hash64(). For
// integrity, not for security.
[[nodiscard]] std::uint64_t checksum(const float* values, std::size_t count);

// The sum of the squares of `count` floats (a multiple of 16), in double precision: in 16 lanes,
// which are then added in order, so that it is the same for every instruction set. It is finite if
// and only if all values are.
[[nodiscard]] double sum_squares(const float* values, std::size_t count);

// The size of a batch of images in blocked layout.
struct Images {
  int batch = 0;
  int channels = 0;  // a multiple of 16
  int height = 0;
  int width = 0;

  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(batch) * static_cast<std::size_t>(channels) *
           static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  }
};

// 3x3 convolution from one channel to 16, stride 1, padding 1. `padded` is [batch][height +
// 2][width + 2] with zero borders; `weights` is [16][3][3]; `out` has the shape `shape`, with 16
// channels.
void conv3x3_first_forward(const Images& shape,
                           const float* padded,
                           const float* weights,
                           float* out);

// Overwrites `d_weights` [16][3][3] with the gradient.
void conv3x3_first_backward(const Images& shape,
                            const float* padded,
                            const float* d_out,
                            float* d_weights);

// Mean and biased variance over batch, height and width; both [channels].
void channel_statistics(const Images& shape, const float* x, float* mean, float* variance);

// Parameters and statistics of batch normalisation, each [channels].
struct BatchNorm {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;
};

inline constexpr float k_bn_epsilon = 1e-5F;  // PyTorch's default

// 2x2 max pooling of relu(batch norm(x)). `shape` is that of x; height and width must be even.
void bn_relu_pool_forward(const Images& shape, const float* x, const BatchNorm& bn, float* out);

// Includes the gradient through the statistics of this batch. Overwrites d_x (shape of x), d_gamma
// and d_beta ([channels]). If several of the four values are the maximum, the first gets the
// gradient.
void bn_relu_pool_backward(const Images& shape,
                           const float* x,
                           const BatchNorm& bn,
                           const float* d_out,
                           float* d_x,
                           float* d_gamma,
                           float* d_beta);

// d[i] = 0 where y[i] <= 0.
void relu_backward(const float* y, float* d, std::size_t count);

// sums[c] = sum over rows of matrix[row][c], in row order.
void sum_rows(const float* matrix, int rows, int columns, float* sums);

// 16-bit floats with fp32's exponent: the upper half of an fp32 number, as bits.
using Bf16 = std::uint16_t;

// to[i] = from[i], rounded to nearest, ties to even, as in IEEE 754, including subnormal numbers; a
// number that is too large becomes infinite. A NaN becomes quiet and keeps the upper bits of its
// payload. Uses only integers, so it does not depend on the instruction set.
void round_to_bf16(const float* from, std::size_t count, Bf16* to);

struct ImageSize {
  int height = 0;
  int width = 0;
  int padding = 0;  // on each of the four sides
};

// out[h + padding][w + padding] = (pixel / 255 - mean) / deviation for one image; does not write
// the border.
void normalise_image(
    const std::uint8_t* pixels, const ImageSize& size, float mean, float deviation, float* out);

}  // namespace dts::train
