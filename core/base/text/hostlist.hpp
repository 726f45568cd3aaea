// SPDX-License-Identifier: Apache-2.0
// Slurm's compressed host lists, "n[0-3,7],gpu01" (scontrol(1), show hostnames). Pure.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts {

// Every host of the list in order, brackets expanded left to right (the last one varies fastest).
// Errc::invalid, with the column, for anything malformed, for a name that is not a host name (RFC
// 1123 plus '_'), and for more than 100,000 hosts.
[[nodiscard]] Result<std::vector<std::string>> expand_hostlist(std::string_view list);

// The inverse, which keeps the order of names: "n[0-3,7],gpu1". Neighbours with the same stem and
// the same number of digits are folded.
[[nodiscard]] std::string fold_hostlist(const std::vector<std::string>& names);

// "n[1-2]:4,m1" -> {n1, 4}, {n2, 4}, {m1, 0}: each item of a host list may end in ":N", the number
// of slots of each of its hosts; otherwise it is 0. Errors as for expand_hostlist(), and for ":0"
// and anything that is not a number.
struct HostSlots {
  std::string host;
  unsigned slots = 0;
};

[[nodiscard]] Result<std::vector<HostSlots>> expand_host_slots(std::string_view list);

// "8(x2),4" -> {8, 8, 4}: the form of SLURM_TASKS_PER_NODE and SLURM_JOB_CPUS_PER_NODE.
[[nodiscard]] Result<std::vector<unsigned>> expand_counts(std::string_view text);

}  // namespace dts
