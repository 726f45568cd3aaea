// SPDX-License-Identifier: Apache-2.0
// Which cores the ranks of a job get, as requested by --bind. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::spec {

enum class BindPolicy {
  automatic,  // near the GPUs, in equal shares, using every core
  compact,    // consecutive cores in hwloc's order, ignoring GPUs
  spread,     // round-robin over the NUMA nodes, skipping full ones; ignoring GPUs
  none,       // every rank may use every core
  map         // as given by the user, per local rank
};

struct Bind {
  BindPolicy policy = BindPolicy::automatic;
  std::vector<std::vector<unsigned>> map{};  // OS indices of PUs, indexed by local rank
  std::string text = "auto";                 // as typed
};

// "auto", "compact", "spread", "none" or "map:0-3;4-7" (lists of PUs by local rank).
// Errc::invalid names the position of the mistake.
[[nodiscard]] Result<Bind> parse_bind(std::string_view text);

[[nodiscard]] const char* to_string(BindPolicy policy);

}  // namespace dts::spec
