// SPDX-License-Identifier: Apache-2.0
// The options that describe a job, shared by `submit` and `run`: spec::options() as CLI11 reads
// them.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/result.hpp"
#include "core/spec/job_spec.hpp"
#include "core/spec/option.hpp"

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dts::cli {

struct JobOptions {
  // By long name, as typed; parsed by make_spec(), so that all mistakes are reported together.
  std::map<std::string, std::string> typed;
  std::map<std::string, std::vector<std::string>> repeated;
  std::map<std::string, bool> flags;
  std::string runs;         // folder of run directories
  bool shows_rare = false;  // --help does, before add_options()
  bool reads_sbatch_variables = false;
};

// "--exclusive" for an option whose value is optional becomes "--exclusive=yes": CLI11 would take
// the next word for its value.
[[nodiscard]] std::vector<std::string> with_bare_values(std::vector<std::string> words);

// The options of one group; with those of Group::job also --runs.
void add_options(CLI::App& verb, spec::Group group, JobOptions& options);

// The requested options, and the problems of those that could not be read. An option with a problem
// keeps its default, so that the rest can still be checked.
struct Asked {
  spec::JobSpec spec;
  Diagnostics problems;
  std::vector<std::string> notes;  // what came from SBATCH_* variables
};

[[nodiscard]] Asked make_spec(const JobOptions& options, const std::vector<std::string>& command);

// The bundled trainer, next to our own program.
[[nodiscard]] std::string trainer_path();

}  // namespace dts::cli
