// SPDX-License-Identifier: Apache-2.0
// Lines that act on the exit code of an earlier one. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <cstddef>
#include <vector>

namespace dts::convert {

// A line whose exit code the next one reads is not unnecessary, also if it only prints:
// nvidia-smi | grep A100; if [ $? -ne 0 ]; then exit 1; fi. `last`: of the last program.
void keep_what_is_checked(std::vector<Part>& parts, std::size_t last);

// After a program, such a line is unnecessary if it only ends the script, and lost otherwise. In
// jobs of many nodes, a line before the last program, whose place is `last`, is lost if it reads
// the PIPESTATUS of the line before it and one of the two is run by the first node only. One that
// reads $? as well is lost in any job.
void lose_exit_codes(std::vector<Part>& parts, std::size_t last, bool has_many_nodes);

// The note on a line that becomes --ulimit, where the script goes on if it fails.
[[nodiscard]] std::string note_on_limit(const Part& part);

// It may call a function of the script or of a file that was read.
[[nodiscard]] bool calls_functions(const Item& item);

inline constexpr const char* k_failure_within = "a failure within the function does not end it";

// The failures that a shell of the set-up from `begin` to `end` has to treat as the script does: in
// functions and subshells, to which its ERR trap is not handed on, and in pipelines. A function
// that several nodes run at once may fail for that reason.
[[nodiscard]] Failures failures_that_matter(const std::vector<Part>& parts,
                                            std::size_t begin,
                                            std::size_t end,
                                            bool is_tear_down,
                                            bool has_many_nodes);

// Those that the set-up's shell has to treat as the script does in that line.
[[nodiscard]] Failures failures_of_line(const Part& part, bool has_many_nodes);

// What a set-up ends with, whose last line is `last` and whose text so far is `text`: that line's
// code is no failure of the set-up where the script goes on.
[[nodiscard]] std::string_view end_without_code(const Item& last, std::string_view text);

// True if the next line, which stays, reads the exit code of `parts[place]`.
[[nodiscard]] bool hands_on_code(const std::vector<Part>& parts, std::size_t place);

// True if the program in `parts[place]` begins with the exit code of the line before it, which the
// set-up runs in another shell: check; if [ $? -eq 0 ]; then srun prog; fi
[[nodiscard]] bool takes_code_of_set_up(const std::vector<Part>& parts, std::size_t place);

// True if it begins with PIPESTATUS of the line before it.
[[nodiscard]] bool reads_pipe_codes(const Item& item);

// True if it begins with an exit code of the line before it, which nothing may come between.
[[nodiscard]] bool begins_with_code(const Item& item);

// Reports PIPESTATUS as lost where the program in `parts[place]` reads that of the line before it.
void lose_code_of_set_up(const std::vector<Part>& parts, std::size_t place, Program& program);

}  // namespace dts::convert
