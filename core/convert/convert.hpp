// SPDX-License-Identifier: Apache-2.0
// Converts a batch script to a job file of dtsubmit, with an account of each of its lines. Pure,
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
  // True if the program is in the submission's folder and not in PATH; empty: not known.
  std::function<bool(const std::string& name)> is_in_folder{};
};

struct Conversion {
  // TOML that dtsubmit accepts; empty if the program is lost: the file would start another program.
  std::string job_file;
  std::vector<Row> rows;  // by place; every byte that is neither blank nor a comment is in one
  std::vector<std::string> general{};  // what is lost, but is of no line
  // Variables of the submitting shell; less is lost once they are set.
  std::vector<std::string> needs{};

  [[nodiscard]] bool is_lossless() const;
};

// Accepts any text, however broken.
[[nodiscard]] Conversion convert_script(std::string_view text, const Options& options);

// The problems of a job file by itself: its keys, its values, the plan of the job.
[[nodiscard]] Diagnostics problems_of_job_file(const std::string& text);

}  // namespace dts::convert
