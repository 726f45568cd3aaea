// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions with padding 1, as products with the matrix in taps.hpp: their outputs, the
// gradients of inputs, which are convolutions as well, and the gradients of weights.
#pragma once

#include "core/train/accelerator/kernels/images/taps.hpp"
#include "core/train/accelerator/kernels/products/tiled_product.hpp"

namespace dts::train::accelerator {

// out [pixels][out_channels], for the pixels of all images.
template <class Factors, class From>
struct Convolve : TiledProduct<Factors> {
  using Stored = typename Factors::Stored;
  using Shared = typename TiledProduct<Factors>::Shared;

  TappedImages<From> images;
  int pixels = 0;
  int out_channels = 0;
  const Stored* weights = nullptr;  // [out_channels][pitch of the images], WeightsByTap
  Stored* out = nullptr;

  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(this->tiles_of(pixels)) *
           static_cast<std::size_t>(this->tiles_of(out_channels));
  }

  template <class Visit>
  void accesses(const Visit& visit) const {
    images.accesses(visit, pixels);
    accelerator::reads(
        visit, weights, row_begin(static_cast<std::size_t>(out_channels), images.shape.pitch()));
    accelerator::writes(visit, out, row_begin(static_cast<std::size_t>(pixels), out_channels));
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const int across = this->tiles_of(out_channels);
    const auto index = static_cast<int>(block.index());
    const int pixel = index / across * k_tile;
    const int channel = index % across * k_tile;
    const int pitch = images.shape.pitch();
    const PixelsFactor<From> left{images, pixel, this->tile_from(pixel, pixels)};
    const RowsFactor<Stored> right{
        weights + channel * pitch, pitch, this->tile_from(channel, out_channels)};
    this->multiply(block, shared, left, right, pitch, [&](int row) {
      return out + row_begin(static_cast<std::size_t>(pixel + row), out_channels) + channel;
    });
  }
};

// The gradient of the weights for each run of `part` pixels of the output,
// [runs][out_channels][pitch], by tap; the last run may be shorter. Without runs, the few values
// would leave most of a device idle.
template <class Factors, class From>
struct ConvolveWeights : TiledProduct<Factors> {
  static constexpr int k_blocks_together = 3;

  using Stored = typename Factors::Stored;
  using Shared = typename TiledProduct<Factors>::Shared;

  TappedImages<From> images;
  int pixels = 0;
  int part = 1;
  int out_channels = 0;
  const Stored* d_out = nullptr;  // [pixels][out_channels]
  float* to = nullptr;

  [[nodiscard]] DTS_CODE_OF_BOTH int parts() const { return (pixels + part - 1) / part; }

  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(parts()) * static_cast<std::size_t>(of_part());
  }

  template <class Visit>
  void accesses(const Visit& visit) const {
    images.accesses(visit, pixels);
    accelerator::reads(visit, d_out, row_begin(static_cast<std::size_t>(pixels), out_channels));
    accelerator::writes(
        visit,
        to,
        row_begin(static_cast<std::size_t>(parts() * out_channels), images.shape.pitch()));
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const int pitch = images.shape.pitch();
    const int across = this->tiles_of(pitch);
    const auto index = static_cast<int>(block.index());
    const int which = index / of_part();
    const int channel = index % of_part() / across * k_tile;
    const int value = index % across * k_tile;
    const int pixel = which * part;
    const ColumnsFactor<Stored> left{
        d_out + row_begin(static_cast<std::size_t>(pixel), out_channels) + channel,
        out_channels,
        this->tile_from(channel, out_channels)};
    const TapsFactor<From> right{images, pixel, value, this->tile_from(value, pitch)};
    float* const first =
        to + row_begin(static_cast<std::size_t>(which * out_channels + channel), pitch) + value;
    const int inner = pixels - pixel < part ? pixels - pixel : part;
    this->multiply(block, shared, left, right, inner, [&](int row) { return first + row * pitch; });
  }

 private:
  // The number of blocks per run.
  [[nodiscard]] DTS_CODE_OF_BOTH int of_part() const {
    return this->tiles_of(out_channels) * this->tiles_of(images.shape.pitch());
  }
};

// Copies weights to the rows of a factor, [rows][pitch] by tap; an element is a value of it. In
// `from`, rows are of_row values apart, channels of_channel; the taps of a channel are neighbours.
template <class Value>
struct WeightsByTap : Elementwise {
  int channels = 0;
  int pitch = 0;
  int of_row = 0;
  int of_channel = 0;
  bool is_mirrored = false;
  const float* from = nullptr;
  Value* to = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    const std::size_t rows = count / static_cast<std::size_t>(pitch);
    accelerator::reads(visit, from, row_begin(rows, k_taps * channels));
    accelerator::writes(visit, to, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const int row = static_cast<int>(i) / pitch;
      const int at = static_cast<int>(i) - row * pitch;
      const int tap = at / channels;
      const int channel = at - tap * channels;
      const int from_tap = is_mirrored ? k_taps - 1 - tap : tap;
      store(to[i], tap < k_taps ? from[row * of_row + channel * of_channel + from_tap] : 0.0F);
    });
  }
};

// Copies gradients of weights from [out][pitch] by tap to the layout of weights,
// [out][channels][9].
struct WeightsByChannel : Elementwise {
  int channels = 0;
  int pitch = 0;
  const float* from = nullptr;
  float* to = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(
        visit, from, row_begin(count / static_cast<std::size_t>(k_taps * channels), pitch));
    accelerator::writes(visit, to, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const int row = static_cast<int>(i) / k_taps / channels;
      const int channel = static_cast<int>(i) / k_taps % channels;
      const int tap = static_cast<int>(i) % k_taps;
      to[i] = from[row * pitch + tap * channels + channel];
    });
  }
};

}  // namespace dts::train::accelerator
