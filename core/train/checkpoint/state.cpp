// SPDX-License-Identifier: Apache-2.0
// Digest and running statistics.
#include "core/train/checkpoint/state.hpp"

#include "core/base/hash.hpp"
#include "core/train/device/kernels.hpp"

#include <algorithm>
#include <array>

namespace dts::train {
namespace {

constexpr float k_keep = 0.9F;  // 1 - PyTorch's default momentum of running statistics

std::uint64_t hash_of(const Buffer& buffer) {
  return hash64(buffer.data(), buffer.size() * sizeof(float));
}

}  // namespace

void initialise(const Layout& layout,
                std::uint64_t seed,
                State& state,
                const std::function<void(Range)>& filled) {
  state.weights.set_to_zero();
  for (const Tensor& tensor : layout.parameters) {
    initial_weights(tensor, seed, state.weights.data());
    if (filled) filled({tensor.offset, tensor.offset + tensor.count});
  }
  state.momentum.set_to_zero();
  initial_statistics(layout, state.running.data());
  initial_ballast(layout, state.ballast.data());
  state.step = 0;
  state.skipped = 0;
}

std::uint64_t digest(const State& state) {
  return digest(state, hash_of(state.momentum));
}

std::uint64_t digest(const State& state,
                     std::uint64_t moments,
                     std::optional<std::uint64_t> weights) {
  std::array<std::uint64_t, 5> parts{
      weights ? *weights : hash_of(state.weights), moments, hash_of(state.running), state.step};
  std::size_t count = 4;
  if (state.ballast.size() > 0) parts[count++] = hash_of(state.ballast);
  return hash64(parts.data(), count * sizeof parts[0]);
}

void change_ballast(State& state) {
  constexpr std::size_t k_floats = 1 << 18;
  const std::size_t rows = state.ballast.size() / k_floats;
  if (rows == 0) return;
  float* const row = state.ballast.data() + state.step % rows * k_floats;
  for (std::size_t i = 0; i < k_floats; ++i)
    row[i] = 0.5F * row[i] + static_cast<float>(state.step % 1024 + i % 7);
}

void update_statistics(const Layout& layout,
                       const float* sums,
                       const ShardShape& shape,
                       Buffer& running) {
  for (const Tensor& tensor : layout.statistics) {
    const auto n = static_cast<double>(shape.micro_batch) * tensor.values_per_sample;
    const double unbias = tensor.values_per_sample > 0 ? n / (n - 1) : 1.0;
    const auto factor =
        static_cast<float>((1.0 - static_cast<double>(k_keep)) * unbias / shape.shards);
    for (std::size_t i = tensor.offset; i < tensor.offset + tensor.count; ++i)
      running.data()[i] = k_keep * running.data()[i] + factor * sums[i];
  }
}

}  // namespace dts::train
