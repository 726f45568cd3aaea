// SPDX-License-Identifier: Apache-2.0
// Which sample is the i-th of an epoch: a pure function, so that no generator state needs saving.
#pragma once

#include "core/base/random.hpp"

#include <cstdint>

namespace dts::train {

// The `index`-th element, 0 <= index < count, of epoch `epoch`'s permutation of [0, count): a
// Feistel network on the next even power of two, walked along its cycle until it lands below
// `count` (Black and Rogaway 2002, "Ciphers with arbitrary finite domains"). count must be at
// least 1.
[[nodiscard]] std::uint64_t sample_index(std::uint64_t seed,
                                         std::uint64_t epoch,
                                         std::uint64_t index,
                                         std::uint64_t count);

// Which samples each step trains on.
struct SampleOrder {
  std::uint64_t seed = 0;
  std::uint64_t count = 0;  // samples of an epoch
  std::uint64_t batch = 1;
  // Whether an epoch leaves out the samples that do not fill a batch. Otherwise they begin a batch
  // that the next epoch's fill.
  bool drops_tail = false;

  // The sample that is the `position`-th, below `batch`, of the step after `step` completed ones.
  // There is at least one sample, and a batch if tails are dropped.
  [[nodiscard]] std::uint64_t at(std::uint64_t step, std::uint64_t position) const;

  // The epoch, from 0, that it is drawn in.
  [[nodiscard]] std::uint64_t epoch_of(std::uint64_t step, std::uint64_t position) const;

  // The steps of `epochs` epochs; at least one.
  [[nodiscard]] std::uint64_t steps_of(std::uint64_t epochs) const;
};

}  // namespace dts::train
