// SPDX-License-Identifier: Apache-2.0
// Converts a statement that starts the job's work to a command of dtsubmit. Pure.
#pragma once

#include "core/convert/job/draft.hpp"
#include "core/convert/lines/errexit.hpp"
#include "core/convert/lines/item.hpp"
#include "core/convert/program/told.hpp"
#include "core/convert/words/resolve.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::convert {

// Values of SLURM_NTASKS and the like by their names; nullopt: not set.
using ScriptSizes = std::map<std::string, std::optional<std::string>>;

struct Program {
  Settings settings;            // its layout and launcher
  std::vector<FlatWord> words;  // the command, unless it is a text
  std::string text;             // for a shell
  Failures failures{};          // what they do to that shell
  std::string folder{};  // where it is started, in its container, as shell text; empty: the job's
  std::vector<std::string> notes;
  std::vector<std::string> losses;
  std::vector<Blank> blanks{};
  bool names_nodes = false;       // it says on which nodes of the job: srun --nodelist, --relative
  bool hides_launcher = false;    // in a variable, whose value is not known
  bool starts_processes = false;  // one for each GPU, or as it likes: torchrun
  Reach reach = Reach::unknown;   // of the processes that it starts
  std::map<std::string, std::string> dropped{};  // why it needs none of these options of the job
  // $1 and so on at its start; nullopt: as the script gets them.
  std::optional<std::vector<std::string>> arguments{};
  bool takes_arguments = false;  // $1 and so on are what the set-up has at its end
  Names functions{};             // that it may call of files that the set-up reads
  Names needs;          // variables of the shell that submits, without which something is lost
  ScriptSizes sizes{};  // of the script's job, where the program's job has others
  // The same of the launcher's shell, where the ranks have others; see sizes_at_launch().
  ScriptSizes launch_sizes{};
  Names exports{};  // variables of the script that a shell which it starts expands

  // What goes with a part of it: both for people.
  void note(const std::vector<std::string>& more, const std::vector<std::string>& lost);

  // Those of a part of it, each once.
  void add_blanks(const std::vector<Blank>& more);

  // The text that a shell expands.
  [[nodiscard]] std::string source() const;
  [[nodiscard]] bool needs_shell() const;
};

struct ProgramContext {
  const lint::Subject& subject;
  const Resolver& resolver;
  Facts facts;
  std::function<bool(const std::string& name)> is_in_folder{};  // as in Options
  std::size_t at = 0;                                           // where the statement begins
  bool keeps_output = false;  // a later line reads the file to which it goes
  ScriptSizes sizes{};        // see sizes_of_job()
  std::string functions{};    // definitions that the statement calls, for a text
};

// `inliner` has followed the statements before.
[[nodiscard]] Program program_of(const Item& item, Inliner& inliner, const ProgramContext& context);

}  // namespace dts::convert
