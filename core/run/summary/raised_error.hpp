// SPDX-License-Identifier: Apache-2.0
// The uncaught error of a Python program that has not ended yet, or not first. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::run {

// True for the line of an error that is not about other ranks or their store.
[[nodiscard]] bool is_own_error(std::string_view line);

inline constexpr std::size_t k_longest_error = 400;  // bytes of an error that is shown

struct RaisedError {
  std::string line{};        // printable(), at most k_longest_error
  std::size_t end = 0;       // the lines until there, its own included
  bool is_followed = false;  // by what the failure of peers makes a program print
};

// The error with which the last traceback in `last_lines` ends, if it is the program's own and
// ended it: nothing follows but what libraries print while the program ends, and what its peers'
// failure makes them print. A program that failed may take minutes to end, for example while JAX or
// MPI_Finalize waits for the other ranks, and these fail first. nullopt for errors that were
// logged, ignored, or of a thread, and for those that the loss of a peer may have caused, itself or
// by an earlier error of their chain ("During handling of the above exception"). With
// `may_be_broken_pipe`, a BrokenPipeError is the program's own, not the loss of a peer.
[[nodiscard]] std::optional<RaisedError> raised_error(const std::vector<std::string>& last_lines,
                                                      bool may_be_broken_pipe = false);

// The error that ended a program that was asked to stop, other than the one that a library makes of
// the stop signal. A broken pipe is its own: the signal may have ended tee(1), to which the program
// writes. Errors of its threads and processes, which lose pipes of their own at the signal, are
// passed over. Empty: none.
[[nodiscard]] std::string error_of_stop(std::vector<std::string> last_lines);

}  // namespace dts::run
