// SPDX-License-Identifier: Apache-2.0
// The result for each part of a batch script. Pure, thread-safe.
#pragma once

#include "core/shell/syntax.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::convert {

using shell::Span;

enum class Became {
  option,       // of the job file, by its key
  set_up,       // run on each node before the program
  program,      // the command, or part of it
  fill_in,      // kept, with a blank that the script leaves to whoever submits it
  tear_down,    // run on each node after the program
  unnecessary,  // dtsubmit does it, or nothing needs it any more
  lost,         // the job does not do it
};

// "option", "set-up", ...
[[nodiscard]] const char* to_string(Became became);

// A part of the script: an option, or a statement with its here-documents.
struct Row {
  std::vector<Span> spans;  // in order; those of different rows never overlap
  Became became = Became::lost;
  std::string what{};  // "nodes = 4"; empty: as the script has it
  std::string why{};   // a clause; never empty for what is unnecessary, lost or to fill in
};

// Sorts the rows by place, and adds one (lost) for each line that is in no row although it
// is neither blank nor a comment.
void complete(std::vector<Row>& rows,
              std::string_view text,
              const std::vector<Span>& comments,
              const std::string& why);

// Numbers, from 1, of the lines that are neither blank nor comments. #SBATCH lines
// that sbatch reads, those before `header_end`, are included.
[[nodiscard]] std::vector<std::size_t> lines_to_account(std::string_view text,
                                                        const std::vector<Span>& comments,
                                                        std::size_t header_end);

}  // namespace dts::convert
