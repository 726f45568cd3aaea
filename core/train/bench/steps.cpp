// SPDX-License-Identifier: Apache-2.0
#include "core/base/hash.hpp"
#include "core/base/random.hpp"
#include "core/train/backend/shard_sums.hpp"
#include "core/train/bench/cpus.hpp"
#include "core/train/bench/measures.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/checkpoint/state.hpp"
#include "core/train/device/instruction_set.hpp"
#include "core/train/device/kernels.hpp"
#include "core/train/models/model_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace dts::train::bench {
namespace {

constexpr int k_shards = 16;
constexpr int k_images = 128;
constexpr std::uint64_t k_seed = 1;

// Images and labels that are the same on all machines, without a data set.
struct MadeUp {
  std::vector<std::uint8_t> images = std::vector<std::uint8_t>(k_images * k_pixels);
  std::vector<std::uint8_t> labels = std::vector<std::uint8_t>(k_images);

  MadeUp() {
    for (std::size_t i = 0; i < images.size(); ++i)
      images[i] = static_cast<std::uint8_t>(mix(i) & 0xFF);
    for (std::size_t i = 0; i < labels.size(); ++i)
      labels[i] = static_cast<std::uint8_t>(i % k_classes);
  }

  [[nodiscard]] Samples view() const { return {images.data(), labels.data(), labels.size()}; }
};

class RepeatedStep {
 public:
  RepeatedStep(const Layout& layout, ShardSums& sums, const BenchOptions& options)
      : layout_(layout), sums_(sums), options_(options), state_(layout) {}

  // The digest of the state after the step from the initial state.
  [[nodiscard]] std::uint64_t run(int repeat) {
    initial_weights(layout_, k_seed, state_.weights.data());
    for (std::size_t i = 0; i < state_.momentum.size(); ++i)
      state_.momentum.data()[i] = state_.weights.data()[i] * 0.125F;
    state_.step = 0;
    flip("weight", repeat, state_.weights.data());
    flip("momentum", repeat, state_.momentum.data());
    const StepInput input{data_.view(), state_.weights.data(), k_seed, 0, k_images};
    const Partials parts = sums_.sum(input, {0, k_shards});
    float* const sum = combine({0, k_shards}, parts, 0, layout_.sum_floats());
    flip("gradient", repeat, sum);
    float* const weights = state_.weights.data();
    float* const momentum = state_.momentum.data();
    sgd({weights, momentum}, {weights, momentum}, {sum, layout_.parameter_floats, 0.1F, 0.9F});
    std::copy_n(sum + layout_.parameter_floats, state_.running.size(), state_.running.data());
    state_.step = 1;
    return digest(state_);
  }

 private:
  // Flips a bit in the middle of the fraction, which the loss would not reveal.
  void flip(const char* what, int repeat, float* values) const {
    const Injection* const injection = options_.injection(what, 0);
    if (injection == nullptr || injection->repeat != repeat) return;
    float& value = values[injection->element % layout_.parameter_floats];
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ (1U << 12));
  }

  Layout layout_;
  ShardSums& sums_;
  const BenchOptions& options_;
  State state_;
  MadeUp data_;
};

}  // namespace

void measure_steps(const BenchOptions& options, double seconds, RankFacts& facts) {
  use_instruction_set(best_instruction_set());  // before oneDNN's first primitive
  const Model model = make_model("cnn2").value();
  const auto threads = std::min(k_shards, static_cast<int>(own_cores().size()));
  const auto sums = ShardSums::create(model, k_shards, k_images / k_shards, threads);
  if (!sums) {
    facts.notes.push_back(sums.error().message);
    return;
  }
  RepeatedStep step(model.layout, **sums, options);
  Steps found;
  std::uint64_t first = 0;
  // Fewer repeats on a slow machine, but at least three, so that the odd one can be identified.
  for (const Clock::time_point start = Clock::now();
       found.repeats < std::min(3, options.repeats()) ||
       (found.repeats < options.repeats() && seconds_since(start) < seconds);
       ++found.repeats) {
    const std::uint64_t now = step.run(found.repeats);
    if (found.repeats == 0) first = now;
    if (now != first) found.odd.push_back(found.repeats);
  }
  found.digest = to_hex(first);
  if (found.repeats < options.repeats())
    facts.notes.push_back(fmt::format(
        "{} repeats of the step instead of {}: it is slow", found.repeats, options.repeats()));
  facts.steps = std::move(found);
}

}  // namespace dts::train::bench
