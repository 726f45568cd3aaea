// SPDX-License-Identifier: Apache-2.0
// Which cores the ranks of a job get, as it was asked for (--bind). Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::spec {

enum class BindPolicy {
  automatic,  // near the GPUs, equal shares, every core used
  compact,    // runs of neighbours in hwloc's order, whatever the GPUs
  spread,  // ranks in the NUMA nodes by turns, those passed over that are full; whatever the GPUs
  none,    // every rank may use every core
  map      // as the user says, by local rank
};

struct Bind {
  BindPolicy policy = BindPolicy::automatic;
  std::vector<std::vector<unsigned>> map{};  // OS indices of PUs by local rank
  std::string text = "auto";                 // as it was typed
};

// "auto", "compact", "spread", "none" or "map:0-3;4-7" (lists of PUs by local rank).
// Errc::invalid, naming the place.
[[nodiscard]] Result<Bind> parse_bind(std::string_view text);

[[nodiscard]] const char* to_string(BindPolicy policy);

}  // namespace dts::spec
