// SPDX-License-Identifier: Apache-2.0
// Finds where a loss, a gradient or a weight first became NaN or infinite. Not thread-safe.
#pragma once

#include "core/train/backend/backend.hpp"

#include <optional>
#include <string>

namespace dts::train {

// The first tensor, in the order of computation, that is not finite in the sums of some shards:
// batch statistics, the loss, then gradients from the last layer to the first. "the batch's bn1
// mean", "the loss", "the gradient of fc2.weight"; nullopt if all are finite.
[[nodiscard]] std::optional<std::string> first_not_finite(const Layout& layout, const float* sums);

// The same for the sums without the gradients, [Layout::tail_floats()].
[[nodiscard]] std::optional<std::string> first_not_finite_of_tail(const Layout& layout,
                                                                  const float* tail);

struct NotFinite {
  int shard = 0;
  std::string what;
};

// Recomputes the shards of `run` one by one, and returns the first that is not finite.
[[nodiscard]] std::optional<NotFinite> find_not_finite(Backend& backend,
                                                       const StepInput& input,
                                                       Span run);

}  // namespace dts::train
