// SPDX-License-Identifier: Apache-2.0
// The options that describe a job, shared by `submit` and `run`: registers spec::options() with
// CLI11.
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
  // By long name, as typed. make_spec() parses them, so that all mistakes are reported together.
  std::map<std::string, std::optional<std::string>> typed;
  std::map<std::string, std::vector<std::string>> repeated;
  std::map<std::string, bool> flags;
  std::string job_file;           // TOML or JSON; empty: none
  std::string save;               // where to write a job file; empty: it is not written
  bool shows_rare = false;        // --help lists rare options; set before add_options()
  bool is_listed = true;          // false: another command's --help lists them
  bool stands_alone = false;      // read only the job file and the command line
  std::set<spec::Group> groups;   // supported by the command
  std::set<std::string> without;  // long names of options that the command has for itself
};

// Turns "--exclusive", whose value is optional, into "--exclusive=yes": CLI11 would take the next
// word as its value.
[[nodiscard]] std::vector<std::string> with_bare_values(std::vector<std::string> words);

// Adds the options of one group.
void add_options(CLI::App& verb,
                 spec::Group group,
                 JobOptions& options,
                 const Invocation& invocation);

// Adds the job file as the first positional argument.
void add_job_file(CLI::App& verb, JobOptions& options);

// The values typed for an option, in order, with one empty text for a flag; nullopt if it was not
// typed.
[[nodiscard]] std::optional<std::vector<std::string>> texts_of(const spec::Option& row,
                                                               const JobOptions& options);

// The typed options as words of a command line, "--nodes=2", except those of `check`.
[[nodiscard]] std::vector<std::string> typed_words(const JobOptions& options);

// The requested options, from files, variables and the command line, and the problems of unreadable
// ones. An option with a problem keeps its default, so that the rest can still be checked.
struct Asked {
  spec::JobSpec spec;
  spec::Layer settings;  // origin of each value
  Diagnostics problems;
  std::vector<std::string> notes;  // values from SBATCH_* variables, and ignored files
};

// Reads files and variables, and writes the --save file if there is no problem. Errc::usage if the
// first word is not a job file.
[[nodiscard]] Result<Asked> make_spec(const JobOptions& options,
                                      const std::vector<std::string>& command);

// Applies --chdir: from here on, relative paths start there.
void enter_folder(Asked& asked);

// The bundled trainer, located next to our own program.
[[nodiscard]] std::string trainer_path();

}  // namespace dts::cli
