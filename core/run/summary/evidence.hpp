// SPDX-License-Identifier: Apache-2.0
// What a program's own output shows about why it ended. Pure.
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

// Open MPI's words under a launcher that it cannot ask for its rank, such as MPICH's mpiexec.
inline constexpr std::string_view k_foreign_launcher =
    "but OMPI was not built with SLURM's PMI support";

// CUDA's and Lightning's words for a GPU that the rank does not see, which sees its own as number
// 0.
inline constexpr std::string_view k_unseen_gpu = "invalid device ordinal";
inline constexpr std::string_view k_unseen_gpus = "But your machine only has: [";

// PyTorch's words for a rank that sees no GPU at all.
inline constexpr std::string_view k_no_gpu = "No CUDA GPUs are available";
inline constexpr std::string_view k_no_amd_gpu = "No HIP GPUs are available";

// The cause shown by the last lines of a failed rank's log: out_of_memory, gpu_error, disk_full,
// storage_error, corruption, damaged, user_exit (of the words above), rendezvous or comm_timeout.
// Of several, the first in this order: a rank that ran out of memory also breaks its communicator.
// nullopt: no known message.
[[nodiscard]] std::optional<Evidence> read_evidence(const std::vector<std::string>& last_lines);

// True for the line of an error or exception of any kind; not for the source lines of a traceback,
// which are indented.
[[nodiscard]] bool is_error(std::string_view line);

// The code that a program passed to MPI_Abort, according to the last lines of its log (Open MPI,
// MPICH and derivatives); the first of several; nullopt if there is none.
[[nodiscard]] std::optional<long long> read_abort(const std::vector<std::string>& last_lines);

// True if MPI_Abort may be the reason for `cause`: a launcher then kills all ranks at once, so it
// is meaningless which of them is missed first.
[[nodiscard]] bool may_be_an_abort(Cause cause);

// The patterns; public for a test that has a real message for each.
struct Pattern {
  Cause cause;
  std::string_view words;
};

[[nodiscard]] const std::vector<Pattern>& known_patterns();

// True if `words` say that the program took a GPU by a number that it did not see.
[[nodiscard]] bool asks_for_unseen_gpu(std::string_view words);

// True if `words` say that the program did not find a GPU.
[[nodiscard]] bool misses_a_gpu(std::string_view words);

// True if a program's output can make `cause` more precise.
[[nodiscard]] bool may_be_explained(Cause cause);

// True if the launcher could not start the ranks, or not keep them.
[[nodiscard]] bool is_launchers(Cause cause);

// True if the launcher's own words may say why, where no rank does.
[[nodiscard]] bool launcher_may_say(Cause cause);

// True if a rank that ended with `cause` may be the victim of another that ended first.
[[nodiscard]] bool may_be_secondary(Cause cause);

}  // namespace dts::run
