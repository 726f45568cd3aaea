// SPDX-License-Identifier: Apache-2.0
#include "core/convert/tear_down.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/words/used_arguments.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr const char* k_each_role =
    "a tear-down runs for each role as soon as that one ends, while others may still run: do it in "
    "a job behind this one, with --after RUN, or in the program of one role";
constexpr const char* k_waits =
    "acts on what `wait` returns for a process of the script's shell; the tear-down has a shell of "
    "its own: do it in the program";
constexpr const char* k_number =
    "uses $!, the number of a process of the script's shell; the tear-down has a shell of its own: "
    "do it in the program";
constexpr const char* k_other_arguments =
    "the script changes its arguments before; the tear-down has a shell of its own: store them in "
    "variables first";
constexpr const char* k_other_folder =
    "the folder to which it returns is not known in the tear-down, a shell of its own: write cd "
    "with the folder's name";
constexpr const char* k_ends_by_itself = "processes end with the job";

void lose(Part& part, const std::string& why) {
  part.is_kept = false;
  part.verdict = {Verdict::Kind::lost, why};
}

void drop(Part& part, const std::string& why) {
  part.is_kept = false;
  part.verdict = {Verdict::Kind::unnecessary, why};
}

bool stops(const lint::Run& run) {
  constexpr std::string_view k_stops[] = {"kill", "pkill", "killall", "wait"};
  const std::string verb = verb_of(run);
  return is_one_of(k_stops, verb) ||
         (verb == "ray" && run.words.size() > 1 && run.words[1].value.text == "stop");
}

bool only_stops(const Item& item) {
  constexpr std::string_view k_beside[] = {"exit", "true", ":", "sleep", "echo"};
  const auto& runs = item.runs;
  return !runs.empty() && !writes_file(item) && item.sets.functions.empty() &&
         std::all_of(runs.begin(), runs.end(), [&](const lint::Run* run) {
           return stops(*run) || is_one_of(k_beside, verb_of(*run));
         });
}

// Nothing of it is there once its shell has ended.
bool leaves_nothing(const Item& item) {
  constexpr std::string_view k_passing[] = {
      "echo",     "printf", "date",  "ls",   "cat",    "head",  "tail",       "grep",
      "egrep",    "fgrep",  "wc",    "du",   "df",     "sacct", "seff",       "cd",
      "sleep",    "squeue", "pushd", "popd", "module", "ml",    "conda",      "set",
      "unset",    "export", "shopt", "[",    "test",   "true",  "deactivate", ":",
      "hostname", "exit",   "local", "pwd",  "return", "free",  "nvidia-smi"};
  if (!item.sets.functions.empty()) return item.only_sets();
  return !writes_file(item) && !acts_inside(item) &&
         std::all_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
           return stops(*run) || is_one_of(k_passing, verb_of(*run));
         });
}

// if wait $ID; then ... fi
bool decides_by_wait(const shell::Command& command) {
  bool decides = false;
  for (const shell::Statements& condition : command.conditions)
    each_command(condition, [&](const shell::Command& one) {
      decides = decides || first_word(one) == "wait";
    });
  return decides;
}

// wait $ID && touch done; if wait $ID; then ... fi
bool acts_on_wait(const shell::Statement& statement) {
  constexpr std::string_view k_idle[] = {"true", ":", "echo", "wait", "exit"};
  bool is_behind = false;  // of the list
  bool acts = false;
  for (const shell::Pipeline& pipeline : statement.pipelines)
    for (const shell::Command& command : pipeline.commands) {
      const std::string verb = first_word(command);
      acts = acts || (is_behind && !is_one_of(k_idle, verb)) || decides_by_wait(command);
      is_behind = is_behind || verb == "wait";
    }
  return acts;
}

bool has_number(const Item& item) {
  bool has = false;
  each_expansion({*item.statement},
                 [&has](const shell::Piece& piece) { has = has || piece.text == "!"; });
  return has;
}

// shift, getopts, set -- NAME: the script's arguments are others behind it.
bool changes_arguments(const Item& item) {
  return std::any_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
    const std::string& name = run->name();
    return name == "shift" ||
           (name == "set" && run->words.size() > 1 && run->words[1].value.text == "--");
  });
}

std::string loss_of_arguments(const Item& item, bool are_others, const Options& options) {
  if (are_others && uses_arguments(*item.statement)) return k_other_arguments;
  const auto missing = missing_arguments(*item.statement, options.arguments.size(), false);
  if (missing.empty()) return "";
  return "a tear-down without " + join(missing, ", ") +
         " would do something else: convert again with the script's arguments behind --";
}

// popd, cd -
bool returns(const shell::Command& command) {
  const std::string verb = first_word(command);
  return verb == "popd" ||
         (verb == "cd" && command.words.size() == 2 && literal_of(command.words[1]) == "-");
}

class TearDown {
 public:
  TearDown(bool has_roles, bool has_folder, const Options& options)
      : has_roles_(has_roles), has_folder_(has_folder), options_(options) {}

  // A line that keep_needed() has kept.
  void line(Part& part) {
    const Item& item = part.item;
    const std::string argument = loss_of_arguments(item, are_others_, options_);
    if (has_number(item) || meets(item.used, numbers_))
      number(part);
    else if (acts_on_wait(*item.statement))
      lose(part, k_waits);
    else if (!argument.empty())
      lose(part, argument);
    else if (has_roles_)
      leaves_nothing(item) ? drop(part, "nothing of it is left when the job has ended")
                           : lose(part, k_each_role);
    else
      in_folder(part);
    has_started_ = has_started_ || (part.is_kept && part.item.statement->background);
  }

  // A line that is not kept: `wait` has to be, if the tear-down itself starts something.
  void dropped_line(Part& part) {
    if (!has_started_ || simple_command(*part.item.statement) == nullptr || !waits(part.item))
      return;
    part.verdict = {};
    part.verdict.text = "wait";
    part.is_kept = true;
  }

  // Any part, in the script's order.
  void follow(const Part& part) {
    const bool is_run = part.verdict.kind != Verdict::Kind::unnecessary;
    changes_ += part.item.sets.changes_folder && is_run ? 1 : 0;
    are_others_ = are_others_ || (part.role == Role::around && changes_arguments(part.item));
  }

 private:
  void number(Part& part) {
    const Item& item = part.item;
    if (item.only_sets() && item.sets.functions.empty()) {
      numbers_.insert(item.sets.variables.begin(), item.sets.variables.end());
      drop(part, "nothing that is kept uses it");
    } else {
      only_stops(item) ? drop(part, k_ends_by_itself) : lose(part, k_number);
    }
  }

  // Behind a way back that is not known, everything is lost: it would be done elsewhere.
  void in_folder(Part& part) {
    bool goes_back = false;
    each_command(*part.item.statement,
                 [&](const shell::Command& one) { goes_back = goes_back || returns(one); });
    const shell::Command* command = simple_command(*part.item.statement);
    const bool is_certain =
        changes_ == 1 && !has_folder_ && command != nullptr && returns(*command);
    is_elsewhere_ = is_elsewhere_ || (goes_back && !is_certain);
    if (is_elsewhere_)
      lose(part, k_other_folder);
    else if (goes_back)
      part.verdict.text = "cd \"$SLURM_SUBMIT_DIR\"";
  }

  bool has_roles_;
  bool has_folder_;
  const Options& options_;
  Names numbers_;              // variables that hold numbers of processes
  std::size_t changes_ = 0;    // of the folder
  bool are_others_ = false;    // the arguments are not the script's
  bool has_started_ = false;   // something in the background
  bool is_elsewhere_ = false;  // the folder is not the script's
};

}  // namespace

void settle_tear_down(std::vector<Part>& parts,
                      std::size_t last,
                      bool has_roles,
                      bool has_folder,
                      const Options& options) {
  TearDown tear_down(has_roles, has_folder, options);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > last && parts[i].role == Role::around)
      parts[i].is_kept ? tear_down.line(parts[i]) : tear_down.dropped_line(parts[i]);
    tear_down.follow(parts[i]);
  }
}

}  // namespace dts::convert
