// SPDX-License-Identifier: Apache-2.0
// A batch script as a job file of dtsubmit, with an account of each of its lines. Pure,
// thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/convert/job/account.hpp"
#include "core/convert/words/resolve.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::convert {

struct Options {
  std::string path{};                    // of the script, as it is to be named in the job
  std::vector<std::string> arguments{};  // of the script: $1, $2 ...
  Lookup environment{};                  // of the shell that would submit it; empty: not known
  // The program is in the folder where the job is submitted, and in none of PATH; empty: not known.
  std::function<bool(const std::string& name)> is_in_folder{};
};

struct Conversion {
  // TOML that dtsubmit accepts; empty if the program is lost: such a file would start another one.
  std::string job_file;
  std::vector<Row> rows;  // by place; every byte that is neither blank nor a comment is in one
  std::vector<std::string> general{};  // what is lost, but is of no line
  // Variables of the shell that submits: once they are set, less is lost.
  std::vector<std::string> needs{};

  [[nodiscard]] bool is_lossless() const;
};

// Any text, however broken, gives an account.
[[nodiscard]] Conversion convert_script(std::string_view text, const Options& options);

// What is wrong with a job file by itself: its keys, its values, the plan of the job.
[[nodiscard]] Diagnostics problems_of_job_file(const std::string& text);

}  // namespace dts::convert
