// SPDX-License-Identifier: Apache-2.0
// All kernels, by number, which identifies a kernel to the module that has it compiled.
#pragma once

#include "core/train/accelerator/kernels/arrays.hpp"
#include "core/train/accelerator/kernels/attention_keys.hpp"
#include "core/train/accelerator/kernels/chunks.hpp"
#include "core/train/accelerator/kernels/columns.hpp"
#include "core/train/accelerator/kernels/elementwise.hpp"
#include "core/train/accelerator/kernels/embedding.hpp"
#include "core/train/accelerator/kernels/images/batch_norm.hpp"
#include "core/train/accelerator/kernels/images/convolution.hpp"
#include "core/train/accelerator/kernels/images/narrowing.hpp"
#include "core/train/accelerator/kernels/images/pooling.hpp"
#include "core/train/accelerator/kernels/norm.hpp"
#include "core/train/accelerator/kernels/products/product.hpp"
#include "core/train/accelerator/kernels/rounding.hpp"
#include "core/train/accelerator/kernels/softmax.hpp"
#include "core/train/accelerator/kernels/sums.hpp"
#include "core/train/accelerator/kernels/update.hpp"

#include <cstring>
#include <type_traits>

namespace dts::train::accelerator {

template <class... Kernel>
struct KernelList {
  // A fingerprint of the list, which must be equal in module and trainer (64-bit FNV-1a).
  [[nodiscard]] static constexpr std::uint64_t signature() {
    std::uint64_t hash = 14695981039346656037U;
    const auto mix = [&](std::uint64_t word) { hash = (hash ^ word) * 1099511628211U; };
    ((mix(sizeof(Kernel)), mix(sizeof(typename Kernel::Shared)), mix(Kernel::k_threads)), ...);
    return hash;
  }

  [[nodiscard]] static constexpr std::uint32_t count() { return sizeof...(Kernel); }

  template <class Wanted>
  [[nodiscard]] static constexpr std::uint32_t number_of() {
    std::uint32_t number = 0;
    (void)((std::is_same_v<Wanted, Kernel> || (++number, false)) || ...);
    return number;
  }

  // Calls visit(kernel) with the kernel of that number, whose arguments are at `bytes`; false if
  // there is no such kernel.
  template <class Visit>
  static bool visit(std::uint32_t number, const void* bytes, const Visit& visit) {
    std::uint32_t at = 0;
    return ((number == at++ && (visit(copy_of<Kernel>(bytes)), true)) || ...);
  }

 private:
  template <class One>
  static One copy_of(const void* bytes) {
    static_assert(std::is_trivially_copyable_v<One>);
    One one;
    std::memcpy(static_cast<void*>(&one), bytes, sizeof one);
    return one;
  }
};

// New kernels must be added at the end.
using Kernels = KernelList<Add<float>,
                           GeluForward<float>,
                           GeluBackward<float>,
                           EmbeddingForward,
                           TokenGradients,
                           PositionGradients,
                           Normalise<NormKind::layer, float>,
                           NormaliseBackward<NormKind::layer, float>,
                           ColumnSums<float>,
                           CrossEntropy<float>,
                           Squares,
                           Total<float>,
                           Total<double>,
                           Normalise<NormKind::rms, float>,
                           NormaliseBackward<NormKind::rms, float>,
                           SwigluForward<float>,
                           SwigluBackward<float>,
                           Rotate<float>,
                           ChecksumChunks,
                           ChunkSquares,
                           UpdateChunks<UpdateRule::sgd>,
                           UpdateChunks<UpdateRule::nesterov>,
                           UpdateChunks<UpdateRule::adam>,
                           UpdateChunks<UpdateRule::lamb>,
                           ApplyDirections,
                           Copy<float>,
                           RoundMatrices,
                           Relu,
                           ReluBackward,
                           WeightsByTap<float>,
                           WeightsByTap<Bfloat>,
                           WeightsByChannel,
                           ChannelMoments<float>,
                           ChannelStatistics,
                           ChannelGradients,
                           BatchNormRelu<float>,
                           BatchNormReluGradients<float>,
                           BatchNormBackward<float>,
                           BatchNormReluPool<float>,
                           BatchNormPoolGradients<float>,
                           BatchNormPoolBackward<float>,
                           PixelMeans<float>,
                           PixelMeansBackward<float>,
                           Narrow<float>,
                           NarrowBackward<float>,
                           AttendForward<PlainFactors>,
                           AttendQueries<PlainFactors>,
                           AttendKeys<PlainFactors>,
                           Copy<std::uint32_t>,
                           AttendForward<TensorRowFactors>,
                           AttendQueries<TensorRowFactors>,
                           AttendKeys<TensorRowFactors>,
                           GeluForward<Bfloat>,
                           GeluBackward<Bfloat>,
                           SwigluForward<Bfloat>,
                           SwigluBackward<Bfloat>,
                           Rotate<Bfloat>,
                           Normalise<NormKind::layer, Bfloat>,
                           Normalise<NormKind::rms, Bfloat>,
                           ColumnSums<Bfloat>,
                           Convolve<PlainFactors, float>,
                           ConvolveWeights<PlainFactors, float>,
                           Convolve<TensorFactors, float>,
                           ConvolveWeights<TensorFactors, float>,
                           Convolve<TensorFactors, Bfloat>,
                           ConvolveWeights<TensorFactors, Bfloat>,
                           Add<Bfloat>,
                           ChannelMoments<Bfloat>,
                           BatchNormRelu<Bfloat>,
                           BatchNormReluGradients<Bfloat>,
                           BatchNormBackward<Bfloat>,
                           BatchNormReluPool<Bfloat>,
                           BatchNormPoolGradients<Bfloat>,
                           BatchNormPoolBackward<Bfloat>,
                           PixelMeans<Bfloat>,
                           PixelMeansBackward<Bfloat>,
                           Narrow<Bfloat>,
                           NarrowBackward<Bfloat>,
                           NormaliseBackward<NormKind::layer, Bfloat>,
                           NormaliseBackward<NormKind::rms, Bfloat>,
                           CrossEntropy<Bfloat>,
                           Round,
                           AddRuns,
                           GeluBackwardSums<float>,
                           GeluBackwardSums<Bfloat>,
                           Multiply<PlainFactors, float>,
                           Multiply<TensorFactors, float>,
                           Multiply<TensorFactors, Bfloat>>;

}  // namespace dts::train::accelerator
