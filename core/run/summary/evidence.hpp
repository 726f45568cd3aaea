// SPDX-License-Identifier: Apache-2.0
// Evidence about a program's end in its own output. Pure.
#pragma once

#include "core/run/event/cause.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::run {

struct Evidence {
  Cause cause = Cause::user_exit;
  std::string line;  // the line that shows it, printable(), some 400 bytes
};

// The cause that the last lines of a failed rank's log show: out_of_memory, gpu_error, disk_full,
// damaged, rendezvous or comm_timeout. If they show several, the first of that list: a rank that
// ran out of memory also breaks its communicator. nullopt: no known message.
[[nodiscard]] std::optional<Evidence> read_evidence(const std::vector<std::string>& last_lines);

// The code that a program gave to MPI_Abort, as the last lines of its log show it (Open MPI, MPICH
// and derivatives); nullopt: they do not mention one. If there are several, the first.
[[nodiscard]] std::optional<long long> read_abort(const std::vector<std::string>& last_lines);

// True if MPI_Abort may be the reason for `cause`: a launcher then kills all ranks at once, and
// which of them is missed first means nothing.
[[nodiscard]] bool may_be_an_abort(Cause cause);

// The patterns; public for a test that has a real message for each.
struct Pattern {
  Cause cause;
  std::string_view words;
};

[[nodiscard]] const std::vector<Pattern>& known_patterns();

// True if a program's output can make `cause` more precise.
[[nodiscard]] bool may_be_explained(Cause cause);

// True if a rank that ended with `cause` may be the victim of another that ended first.
[[nodiscard]] bool may_be_a_victim(Cause cause);

}  // namespace dts::run
