// SPDX-License-Identifier: Apache-2.0
// Output of `dtsubmit convert`.
#pragma once

#include "core/convert/convert.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

// What Slurm says of the script and of the job made of it, asked by sbatch --test-only.
struct Comparison {
  std::vector<std::string> differences;  // "nodes: 2, and of the job file 1"
  std::vector<std::string> notes;        // what could not be compared, and why
};

struct Converted {
  std::string path;  // of the script, as typed
  std::string text;
  std::string output;  // where the job file is; empty: standard output
  convert::Conversion made;
  std::optional<Comparison> comparison;
};

// A line for each part of the script: what became of it, and why.
[[nodiscard]] std::string account_text(const Converted& converted, bool in_colour);

// The job file as it is written. Comments at its top name what is lost: the file is a draft then.
[[nodiscard]] std::string job_file_text(const Converted& converted);

// One document with the job file in it, schema dtsubmit/convert/1.
[[nodiscard]] std::string account_json(const Converted& converted);

}  // namespace dts::cli
