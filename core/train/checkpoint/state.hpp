// SPDX-License-Identifier: Apache-2.0
// The whole state of a run, and how a step changes it. Pure.
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
  Buffer momentum;  // all moments (Layout::moments), one after the other; sparse: mostly zero
  Buffer running;   // running statistics of batch normalisation
  Buffer ballast;   // grows the state for drills; each step changes one MiB of it
  bool has_all;  // of the weights; otherwise they are sparse, and those of other ranks come and go
  std::uint64_t step = 0;     // completed
  std::uint64_t skipped = 0;  // of these, without an update because something was not finite
};

// Step 0: the initial weights and statistics, no moments. `filled` is told of each range of weights
// that has been.
void initialise(const Layout& layout,
                std::uint64_t seed,
                State& state,
                const std::function<void(Range)>& filled = nullptr);

// XXH3 over weights, momentum, running statistics, step, and ballast if there is any.
[[nodiscard]] std::uint64_t digest(const State& state);

// The same without the moments, of which `moments` is the hash, and without the weights if that of
// theirs is given.
[[nodiscard]] std::uint64_t digest(const State& state,
                                   std::uint64_t moments,
                                   std::optional<std::uint64_t> weights = {});

// One of the arrays that have a float for each parameter: a moment, or, nullopt, the weights.
using ArrayOf = std::optional<std::size_t>;

// The sizes needed to turn sums over shards into running statistics: `shards` shards of
// `micro_batch` samples each.
struct ShardShape {
  int shards = 0;
  int micro_batch = 0;
};

// `running` becomes 0.9 old + 0.1 mean over shards of `sums` [Layout::statistic_floats], with
// unbiased variances (as PyTorch does for one shard).
void update_statistics(const Layout& layout,
                       const float* sums,
                       const ShardShape& shape,
                       Buffer& running);

// Makes one MiB of the ballast, if there is any, depend on all steps that changed it before.
void change_ballast(State& state);

}  // namespace dts::train
