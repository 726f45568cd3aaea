// SPDX-License-Identifier: Apache-2.0
// The complete state of a run, and how a step changes it. Pure.
#pragma once

#include "core/train/memory/buffer.hpp"
#include "core/train/model/layout.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace dts::train {

struct State {
  explicit State(const Layout& layout, bool has_all_weights = true)
      : weights(has_all_weights ? Buffer::shared(layout.parameter_floats)
                                : Buffer::sparse(layout.parameter_floats)),
        momentum(Buffer::sparse(layout.moment_floats())),
        running(layout.statistic_floats),
        ballast(layout.ballast_floats),
        has_all(has_all_weights) {}

  Buffer weights;
  Buffer momentum;         // all moments (Layout::moments), one after another; sparse: mostly zero
  Buffer running;          // running statistics of batch normalisation
  Buffer ballast;          // enlarges the state for drills; each step changes one MiB of it
  bool has_all;            // all weights are present; otherwise sparse, other ranks' only temporary
  std::uint64_t step = 0;  // number of completed steps
  std::uint64_t skipped = 0;  // steps among them without an update because a value was not finite
};

// Sets the state of step 0: initial weights and statistics, no moments. `filled` is called with
// each range of weights once it is set.
void initialise(const Layout& layout,
                std::uint64_t seed,
                State& state,
                const std::function<void(Range)>& filled = nullptr);

// XXH3 over weights, momentum, running statistics, step, and ballast if there is any.
[[nodiscard]] std::uint64_t digest(const State& state);

// The same digest, where `moments` replaces the hash of the moments, and `weights`, if given, the
// hash of the weights.
[[nodiscard]] std::uint64_t digest(const State& state,
                                   std::uint64_t moments,
                                   std::optional<std::uint64_t> weights = {});

// One of the arrays with a float for each parameter: the index of a moment, or nullopt for the
// weights.
using ArrayOf = std::optional<std::size_t>;

// What is needed to turn sums over shards into running statistics: there are `shards` shards of
// `micro_batch` samples each.
struct ShardShape {
  int shards = 0;
  int micro_batch = 0;
};

// Sets `running` to 0.9 of its old value + 0.1 mean over shards, computed from `sums`
// [Layout::statistic_floats], with unbiased variances (as PyTorch does for one shard).
void update_statistics(const Layout& layout,
                       const float* sums,
                       const ShardShape& shape,
                       Buffer& running);

// Changes one MiB of the ballast, if there is any, to a value that depends on all earlier changes.
void change_ballast(State& state);

}  // namespace dts::train
