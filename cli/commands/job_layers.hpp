// SPDX-License-Identifier: Apache-2.0
// Where the settings of a job come from, besides its command line: files and variables.
#pragma once

#include "cli/commands/job_options.hpp"
#include "core/base/diagnostics.hpp"
#include "core/spec/file/layers.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// Settings of all sources, the weakest first: /etc/dtsubmit, the cluster's profile there,
// ~/.config/dtsubmit and a profile there, the project's .dtsubmit.toml, the job file, SBATCH_*,
// DTSUBMIT_*, what was typed. Problems of all of them together.
struct Gathered {
  spec::Layer settings;  // as settle() leaves them
  Diagnostics problems;
  std::vector<std::string> notes;  // what was not used, and what came from SBATCH_*
};

[[nodiscard]] Gathered gather(const JobOptions& options, const std::vector<std::string>& command);

// By its name.
[[nodiscard]] bool is_job_file(const std::string& word);

// Errc::usage for a word that is no job file.
[[nodiscard]] Result<void> check_job_file(const std::string& path);

// --save: writes what `settings` ask for as a job file, TOML or JSON by its suffix. Errc::invalid
// for another suffix, Errc::io where the file exists.
[[nodiscard]] Result<void> save_job_file(const spec::Layer& settings, const std::string& path);

}  // namespace dts::cli
