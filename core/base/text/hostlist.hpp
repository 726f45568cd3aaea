// SPDX-License-Identifier: Apache-2.0
// Slurm's compressed lists of hosts, "n[0-3,7],gpu01" (scontrol(1), show hostnames). Pure.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts {

// Every host of the list in its order, brackets expanded left to right (the last one runs fastest).
// Errc::invalid, with the column, for anything malformed, for a name that is not a host name
// (RFC 1123 plus '_'), and for more than 100,000 hosts.
[[nodiscard]] Result<std::vector<std::string>> expand_hostlist(std::string_view list);

// The inverse for names in their order: "n[0-3,7],gpu1"; neighbours of one stem with numbers of one
// width are folded.
[[nodiscard]] std::string fold_hostlist(const std::vector<std::string>& names);

// "n[1-2]:4,m1" -> {n1, 4}, {n2, 4}, {m1, 0}: each item of a host list may end in ":N", how many
// slots each of its hosts has; 0 where it does not. Errors as expand_hostlist(), and for ":0" and
// what is no number.
struct HostSlots {
  std::string host;
  unsigned slots = 0;
};

[[nodiscard]] Result<std::vector<HostSlots>> expand_host_slots(std::string_view list);

// "8(x2),4" -> {8, 8, 4}: the form of SLURM_TASKS_PER_NODE and SLURM_JOB_CPUS_PER_NODE.
[[nodiscard]] Result<std::vector<unsigned>> expand_counts(std::string_view text);

}  // namespace dts
