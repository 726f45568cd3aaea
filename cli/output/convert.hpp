// SPDX-License-Identifier: Apache-2.0
// Output of `dtsubmit convert`.
#pragma once

#include "core/convert/convert.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

// What sbatch --test-only reports about the script and the job made from it.
struct Comparison {
  std::vector<std::string> differences;  // "nodes: 2, and of the job file 1"
  std::vector<std::string> notes;        // what could not be compared, and why
};

struct Converted {
  std::string path;  // the script's, as typed
  std::string text;
  std::string output;  // path of the job file; empty: standard output
  convert::Conversion made;
  std::optional<Comparison> comparison;
};

// One line for each part of the script: what became of it, and why.
[[nodiscard]] std::string account_text(const Converted& converted, bool in_colour);

// The job file as written. If something was lost, comments at the top say so, and it is a draft.
[[nodiscard]] std::string job_file_text(const Converted& converted);

// One document that includes the job file, schema dtsubmit/convert/1.
[[nodiscard]] std::string account_json(const Converted& converted);

}  // namespace dts::cli
