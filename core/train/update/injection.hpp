// SPDX-License-Identifier: Apache-2.0
// Faults on purpose, for tests: one bit flipped, or one input made NaN, or one call too
// many (--inject). Pure.
#pragma once

#include "core/train/model/layout.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dts::train {

struct Injection {
  enum class What { weight, gradient, computation, momentum, message, statistic, nan, call };

  What what = What::weight;
  std::size_t element = 0;  // of the flat array of parameters, or of statistics
  int shard = 0;            // for nan
  std::uint64_t step = 0;   // the step that completes this many
  int rank = 0;             // for momentum: whichever keeps it

  [[nodiscard]] bool is_now(What which, std::uint64_t completed) const {
    return what == which && completed + 1 == step;
  }
};

// "weight:fc1.weight:77@12:1", that is element 77 of that tensor on rank 1 in step 12; likewise
// gradient, message (as this rank receives it) and statistic, computation (in each shard's sums
// that the rank computes in that step), and momentum without a rank. "nan:5@12" is an input of
// shard 5, "call@12:1" a barrier of rank 1 alone. nullopt for anything else.
[[nodiscard]] std::optional<Injection> parse_injection(const Layout& layout, std::string_view text);

}  // namespace dts::train
