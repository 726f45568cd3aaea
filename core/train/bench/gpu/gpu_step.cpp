// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/gpu/gpu_step.hpp"

#include "core/base/hash.hpp"
#include "core/base/random.hpp"
#include "core/train/update/chunk_grid.hpp"

#include <algorithm>
#include <string_view>

namespace dts::train::bench {
namespace {

constexpr std::uint64_t k_step_seed = 1;

// Tokens that are the same on all machines, without a data set.
std::vector<std::byte> made_up_tokens(const Model& model, int samples) {
  const auto count =
      static_cast<std::size_t>(model.reads.context) * static_cast<std::size_t>(samples) + 1;
  const auto known = static_cast<std::uint64_t>(std::min(model.classes, 256));
  std::vector<std::byte> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = static_cast<std::byte>(mix(i) % known);
  return tokens;
}

template <class Value>
std::uint64_t hash_of(const Value* at, std::size_t count) {
  return hash64(std::string_view(reinterpret_cast<const char*>(at), count * sizeof *at));
}

}  // namespace

GpuStep::GpuStep(const Model& model, accelerator::DeviceSums& sums, int shards, int micro_batch)
    : model_(model),
      sums_(sums),
      shards_(shards),
      samples_(shards * micro_batch),
      tokens_(made_up_tokens(model, samples_)),
      weights_(floats()) {
  initial_weights(model.layout, k_step_seed, weights_.data());
  const Buffer moments(floats() * optimizer().moments.size());  // zero, as in a first step
  const ChunkGrid grid(model.layout);
  ChunkUpdate::Owned owned{&optimizer(), {}, floats()};
  for (int chunk = 0; chunk < grid.count(); ++chunk) {
    const Range part = grid.floats_of({chunk, chunk + 1});
    owned.chunks.push_back({part.begin,
                            part.begin,
                            static_cast<std::uint32_t>(part.size()),
                            grid.decays(chunk) ? 1U : 0U});
  }
  reports_.resize(owned.chunks.size());
  sums.update()->begin(std::move(owned), weights_.data(), moments.data());
}

const OptimizerRow& GpuStep::optimizer() {
  return *find_optimizer("adamw");
}

std::uint64_t GpuStep::run() {
  Samples samples;
  samples.context = model_.reads.context;
  samples.tokens = {tokens_.data(), tokens_.size(), 1};
  samples.count = static_cast<std::size_t>(samples_);
  StepInput input{samples, weights_.data(), k_step_seed, 0, samples_};
  input.gradients_stay = true;
  const Partials parts = sums_.sum(input, {0, shards_});
  const float* const sum = parts.begin()->second;  // only its tail is on the host
  sums_.update()->step(update_factors({}, {0.01, 1}), nullptr, reports_);
  const Layout& layout = model_.layout;
  return mix(hash_of(sum + layout.parameter_floats, layout.tail_floats())) ^
         hash_of(reports_.data(), reports_.size());
}

}  // namespace dts::train::bench
