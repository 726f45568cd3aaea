// SPDX-License-Identifier: Apache-2.0
// Faults on purpose, for tests (--inject): a flipped bit, an input that is NaN, or an extra call.
// Pure.
#pragma once

#include "core/train/model/layout.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dts::train {

struct Injection {
  enum class Target { weight, gradient, computation, momentum, message, statistic, nan, call };

  Target what = Target::weight;
  std::size_t element = 0;  // of the flat array of parameters, or of statistics
  int shard = 0;            // for nan
  std::uint64_t step = 0;   // in the step that completes this many
  int rank = 0;             // irrelevant for momentum

  [[nodiscard]] bool is_due(Target which, std::uint64_t completed) const {
    return what == which && completed + 1 == step;
  }
};

// Parses "WHAT:TENSOR:ELEMENT@STEP:RANK": "weight:fc1.weight:77@12:1" is element 77 of that tensor
// on rank 1 in step 12. gradient, message (as this rank receives it), statistic and computation
// (the sums of each shard that the rank computes in that step) have the same form; momentum has no
// rank. "nan:5@12" makes an input of shard 5 NaN, "call@12:1" is a barrier that only rank 1 calls.
// Returns nullopt for any other text.
[[nodiscard]] std::optional<Injection> parse_injection(const Layout& layout, std::string_view text);

}  // namespace dts::train
