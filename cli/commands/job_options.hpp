// SPDX-License-Identifier: Apache-2.0
// The options that describe a job, shared by `submit` and `run`: spec::options() as CLI11 reads
// them.
#pragma once

#include "cli/commands/command.hpp"
#include "core/base/diagnostics.hpp"
#include "core/base/result.hpp"
#include "core/spec/file/layers.hpp"
#include "core/spec/job_spec.hpp"
#include "core/spec/option.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dts::cli {

struct JobOptions {
  // By long name, as typed; parsed by make_spec(), so that all mistakes are reported together.
  std::map<std::string, std::optional<std::string>> typed;
  std::map<std::string, std::vector<std::string>> repeated;
  std::map<std::string, bool> flags;
  std::string job_file;          // TOML or JSON; empty: none
  std::string save;              // where to write a job file; empty: nowhere
  bool shows_rare = false;       // --help does, before add_options()
  std::set<spec::Group> groups;  // that the command has
};

// "--exclusive" for an option whose value is optional becomes "--exclusive=yes": CLI11 would take
// the next word for its value.
[[nodiscard]] std::vector<std::string> with_bare_values(std::vector<std::string> words);

// The options of one group.
void add_options(CLI::App& verb,
                 spec::Group group,
                 JobOptions& options,
                 const Invocation& invocation);

// The job file as the first word.
void add_job_file(CLI::App& verb, JobOptions& options);

// What was typed for an option, in the order of typing, one empty text for a flag; nullopt:
// nothing.
[[nodiscard]] std::optional<std::vector<std::string>> texts_of(const spec::Option& row,
                                                               const JobOptions& options);

// The requested options, from files, variables and the command line, and the problems of those that
// could not be read. An option with a problem keeps its default, so that the rest can still be
// checked.
struct Asked {
  spec::JobSpec spec;
  spec::Layer settings;  // where each value comes from
  Diagnostics problems;
  std::vector<std::string> notes;  // what came from SBATCH_* variables, and files not used
};

// Reads files and variables, and writes the file of --save where there is no problem. Errc::usage
// for a first word that is no job file.
[[nodiscard]] Result<Asked> make_spec(const JobOptions& options,
                                      const std::vector<std::string>& command);

// The bundled trainer, next to our own program.
[[nodiscard]] std::string trainer_path();

}  // namespace dts::cli
