// SPDX-License-Identifier: Apache-2.0
// Sources of a job's settings besides its command line: files and variables.
#pragma once

#include "cli/commands/job_options.hpp"
#include "core/base/diagnostics.hpp"
#include "core/spec/file/layers.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// Settings from all sources, the weakest first: /etc/dtsubmit, the cluster's profile there,
// ~/.config/dtsubmit and a profile there, the project's .dtsubmit.toml, the job file, SBATCH_*,
// DTSUBMIT_*, the command line. Collects the problems of all sources.
struct Gathered {
  spec::Layer settings;  // as merged by settle()
  Diagnostics problems;
  std::vector<std::string> notes;  // ignored settings, and those taken from SBATCH_*
};

[[nodiscard]] Gathered gather(const JobOptions& options, const std::vector<std::string>& command);

// Decides by the file name.
[[nodiscard]] bool is_job_file(const std::string& word);

// Errc::usage if the word is not a job file.
[[nodiscard]] Result<void> check_job_file(const std::string& path);

// --save: writes `settings` as a job file, TOML or JSON depending on its suffix. Errc::invalid for
// another suffix, Errc::io if the file exists.
[[nodiscard]] Result<void> save_job_file(const spec::Layer& settings, const std::string& path);

}  // namespace dts::cli
