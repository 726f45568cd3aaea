// SPDX-License-Identifier: Apache-2.0
// The order of samples in an epoch: a pure function, so that no generator state must be saved.
#pragma once

#include "core/base/random.hpp"

#include <cstdint>

namespace dts::train {

// The `index`-th element, 0 <= index < count, of the permutation of [0, count) for epoch `epoch`: a
// Feistel network on the next even power of two, applied repeatedly until the value is below
// `count` (Black and Rogaway 2002, "Ciphers with arbitrary finite domains"). count must be at least
// 1.
[[nodiscard]] std::uint64_t sample_index(std::uint64_t seed,
                                         std::uint64_t epoch,
                                         std::uint64_t index,
                                         std::uint64_t count);

// The samples that each step trains on.
struct SampleOrder {
  std::uint64_t seed = 0;
  std::uint64_t count = 0;  // samples per epoch
  std::uint64_t batch = 1;
  // Whether an epoch omits the last samples if they do not fill a batch. Otherwise that batch is
  // filled up with samples of the next epoch.
  bool drops_tail = false;

  // The `position`-th sample, below `batch`, of the step after `step` completed ones. There must be
  // at least one sample, or, if tails are dropped, a batch of them.
  [[nodiscard]] std::uint64_t at(std::uint64_t step, std::uint64_t position) const;

  // The epoch, from 0, of that sample.
  [[nodiscard]] std::uint64_t epoch_of(std::uint64_t step, std::uint64_t position) const;

  // The number of steps in `epochs` epochs; at least one.
  [[nodiscard]] std::uint64_t steps_of(std::uint64_t epochs) const;
};

}  // namespace dts::train
