// SPDX-License-Identifier: Apache-2.0
#include "core/convert/own_shells.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/codes.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/options/limits.hpp"
#include "core/convert/roles/made_names.hpp"
#include "core/convert/roles/waiting.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>
#include <map>

namespace dts::convert {
namespace {

constexpr const char* k_other_shell =
    "$$ is the number of the script's only shell; set-up, programs and tear-down have shells of "
    "their own: write $SLURM_JOB_ID instead";

// $$ in a name that other lines have to find. Not in kill $$ and echo $$.
bool has_shell_number(const Item& item) {
  constexpr std::string_view k_own[] = {"kill", "ps", "pgrep", "pkill", "echo", "taskset"};
  bool uses = false;
  each_expansion({*item.statement},
                 [&uses](const shell::Piece& piece) { uses = uses || piece.text == "$"; });
  return uses && std::none_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
           return is_one_of(k_own, run->name());
         });
}

void lose_line(Part& part, const std::string& why) {
  part.is_kept = false;
  part.verdict = {Verdict::Kind::lost, why};
}

void lose_shell_numbers(std::vector<Part>& parts,
                        std::vector<Program>& programs,
                        const std::vector<std::size_t>& places) {
  bool is_in_set_up = false;
  std::vector<Part*> behind;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].is_kept || parts[i].role != Role::around || !has_shell_number(parts[i].item))
      continue;
    if (i > places.back())
      behind.push_back(&parts[i]);
    else
      is_in_set_up = true;
  }
  std::vector<Program*> named;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (has_shell_number(parts[places[i]].item)) named.push_back(&programs[i]);
  if (named.size() + (is_in_set_up ? 1 : 0) + (behind.empty() ? 0 : 1) < 2) return;
  for (Program* program : named) program->losses.emplace_back(k_other_shell);
  for (Part* part : behind) lose_line(*part, k_other_shell);
}

// The variables that `item` uses and does not set first.
Names taken_by(const Item& item) {
  Names taken = used_names(item.source);
  for (const auto* own : {&item.sets.variables, &item.sets.arrays})
    for (const std::string& name : *own) taken.erase(name);
  return taken;
}

// Of the programs before, whose shells have ended.
class LostVariables {
 public:
  void see_program(const Item& item) {
    names_.insert(item.sets.variables.begin(), item.sets.variables.end());
    names_.insert(item.sets.arrays.begin(), item.sets.arrays.end());
  }

  void see_line(const Item& item) {
    for (const auto* all : {&item.sets.variables, &item.sets.arrays})
      for (const std::string& name : *all) names_.erase(name);
  }

  // Empty: it uses none.
  [[nodiscard]] std::string loss(const Item& item) const {
    for (const std::string& name : taken_by(item))
      if (names_.count(name) > 0)
        return "uses " + name + ", which the statement of a program sets: its shell ends with it";
    return "";
  }

 private:
  Names names_;
};

// Keeps the line's verdict unless it uses such a variable.
void see_line(Part& part, LostVariables& lost) {
  const std::string why = lost.loss(part.item);
  if (!why.empty()) lose_line(part, why);
  lost.see_line(part.item);
}

void lose_variables(std::vector<Part>& parts,
                    std::vector<Program>& programs,
                    const std::vector<std::size_t>& places) {
  LostVariables lost;
  std::size_t begin = 0;
  for (std::size_t next = 0; next <= places.size(); ++next) {
    const std::size_t end = next < places.size() ? places[next] + 1 : parts.size();
    std::vector<const Item*> own;  // what the program consists of
    for (std::size_t i = begin; i < end; ++i) {
      if (parts[i].role == Role::around && parts[i].is_kept) see_line(parts[i], lost);
      if (parts[i].role == Role::program) own.push_back(&parts[i].item);
    }
    begin = end;
    if (next == places.size()) break;
    for (const Item* item : own)
      if (const std::string why = lost.loss(*item); !why.empty())
        programs[next].losses.push_back(why);
    for (const Item* item : own) lost.see_program(*item);
  }
}

// kill $NAME, by a signal that ends it, and nothing else
bool ends_process(const Item& item, const std::string& name) {
  constexpr std::string_view k_ending[] = {
      "-9", "-15", "-2", "-TERM", "-KILL", "-INT", "-SIGTERM", "-SIGKILL", "-SIGINT"};
  if (item.runs.size() != 1 || simple_command(*item.statement) == nullptr) return false;
  const lint::Run& run = *item.runs[0];
  const std::size_t words = run.words.size();
  const bool has_signal = words == 3 && is_one_of(k_ending, run.words[1].value.text);
  return run.name() == "kill" && (words == 2 || has_signal) && item.used.count(name) > 0;
}

// The last of what `parts[i]` starts in the background and names by $! is killed at `parts[j]`, on
// the other side of a program, and its variable has not been set again.
bool is_killed_at(const std::vector<Part>& parts, std::size_t i, std::size_t j) {
  const Names& names = parts[i + 1].item.sets.variables;
  if (names.size() != 1 || !parts[j].is_kept || parts[j].role != Role::around ||
      !ends_process(parts[j].item, *names.begin()))
    return false;
  const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(i) + 2;
  return std::none_of(
      begin, parts.begin() + static_cast<std::ptrdiff_t>(j), [&](const Part& between) {
        return between.item.sets.variables.count(*names.begin()) > 0;
      });
}

// nvidia-smi -l 5 > gpu.csv & MON=$!; srun ./a; kill $MON; ./plot gpu.csv: the step of the first
// program ends it, and the set-up of the next must not start it again, over its file.
void end_with_steps(std::vector<Part>& parts, const std::vector<std::size_t>& places) {
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const bool starts =
        parts[i].is_kept && parts[i].role == Role::around && parts[i].item.statement->background;
    if (!starts || !parts[i + 1].item.only_sets() ||
        parts[i + 1].item.source.find("$!") == std::string::npos)
      continue;
    const auto next = std::upper_bound(places.begin(), places.end(), i);
    if (next == places.end()) return;
    for (std::size_t j = *next + 1; j < places.back(); ++j) {
      if (!is_killed_at(parts, i, j)) continue;
      parts[i].ended_at = parts[i + 1].ended_at = j;
      parts[j].is_kept = false;
      parts[j].verdict = {Verdict::Kind::unnecessary, "the process ends with its step"};
      break;
    }
  }
}

// ls data | head, cat hosts: again or not, nothing is different.
bool changes_nothing(const Item& item) {
  return !writes_file(item) && !acts_inside(item) &&
         std::all_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
           constexpr std::string_view k_acting[] = {"git",
                                                    "pip",
                                                    "conda",
                                                    "mamba",
                                                    "curl",
                                                    "perl",
                                                    "find",
                                                    "sed",
                                                    "awk",
                                                    "gawk",
                                                    "xargs",
                                                    "tee",
                                                    "kill",
                                                    "eval",
                                                    "source"};
           return reads_only(verb_of(*run)) && !is_one_of(k_acting, verb_of(*run));
         });
}

// wandb login, huggingface-cli login
bool logs_in(const Item& item) {
  return std::any_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
    return run->words.size() > 1 && run->words[1].value.text == "login";
  });
}

// pip install, git clone: work that the set-up of each step behind the next program does again.
void mark_repeated(std::vector<Part>& parts, const std::vector<std::size_t>& places) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    const auto programs = std::count_if(places.begin(), places.end(), [&](std::size_t place) {
      return place > i && place < part.ended_at;
    });
    part.is_repeated = programs > 1 && part.is_kept && part.role == Role::around &&
                       !is_run_once(part.item) &&
                       (logs_in(part.item) || overwrites(part.item) ||
                        (runs_on(part.item) == RunsOn::first && !changes_nothing(part.item)));
  }
}

// The first command of a handler of `trap` for which dtsubmit has no counterpart; empty: none.
std::string work_of_trap(const std::string& handler,
                         const std::map<std::string, const Item*>& functions) {
  const Names done = words_of(
      "echo printf exit kill scontrol wait true : return set trap date [ test sleep local export "
      "shift");
  std::string found;
  const auto see = [&](const shell::Command& command) {
    const std::string verb =
        command.kind == shell::Command::Kind::simple ? first_word(command) : "";
    const bool is_done = verb.empty() || done.count(verb) > 0 || functions.count(verb) > 0;
    if (!is_done && found.empty()) found = verb;
  };
  const shell::Script script = shell::parse(handler);
  each_command(script.statements, see);
  for (const std::string& word : words_of(handler))
    if (const auto function = functions.find(word); function != functions.end())
      each_command(*function->second->statement, see);
  return found;
}

// Of a trap whose last word is `condition`, and what does the same.
std::string when_trapped(const lint::ExpandedWord& condition) {
  const std::string& name = condition.value.text;
  if (name == "EXIT" || name == "0") return "at the end: --teardown runs lines after the program";
  if (name == "ERR") return "after a failure: --on sets what to do then";
  return "at a signal: dtsubmit receives the signals, saves and continues; --teardown runs lines "
         "after the program";
}

// Of a command; empty: it is no trap that works.
std::string loss_of_trap(const lint::Run& run,
                         const std::map<std::string, const Item*>& functions) {
  const auto& words = run.words;
  if (run.name() != "trap" || words.size() < 3) return "";
  const std::string& handler = words[words[1].value.text == "--" ? 2 : 1].value.text;
  const std::string verb = handler.starts_with('-') ? "" : work_of_trap(handler, functions);
  return verb.empty() ? "" : "runs `" + verb + "` " + when_trapped(words.back());
}

}  // namespace

void lose_traps(std::vector<Part>& parts) {
  std::map<std::string, const Item*> functions;
  Names called;
  for (const Part& part : parts) {
    for (const std::string& name : part.item.sets.functions) functions[name] = &part.item;
    for (const lint::Run* run : part.item.runs) called.insert(run->name());
  }
  for (Part& part : parts) {
    const Names& own = part.item.sets.functions;
    if (part.role != Role::around || (!own.empty() && !meets(own, called))) continue;
    for (const lint::Run* run : part.item.runs) {
      const std::string why = run->around.is_in_subshell ? "" : loss_of_trap(*run, functions);
      if (why.empty()) continue;
      if (own.empty() && part.item.runs.size() == 1)
        part.verdict = {Verdict::Kind::lost, why};
      else
        part.loss = "a trap in it " + why;
    }
  }
}

void settle_own_shells(std::vector<Part>& parts,
                       std::vector<Program>& programs,
                       const std::vector<std::size_t>& places,
                       bool has_many_nodes) {
  if (places.empty()) return;
  lose_shell_numbers(parts, programs, places);
  lose_made_names(parts, programs, places, has_many_nodes);
  for (std::size_t i = 0; i < places.size(); ++i)
    lose_code_of_set_up(parts, places[i], programs[i]);
  lose_variables(parts, programs, places);
  lose_limits(parts, programs, places);
  end_with_steps(parts, places);
  mark_repeated(parts, places);
}

void lose_lines_beside(std::vector<Part>& parts, const std::vector<std::size_t>& places) {
  if (places.empty()) return;
  const std::size_t end = std::min(end_beside(parts, places), parts.size());
  for (std::size_t i = places.back() + 1; i < end; ++i)
    if (parts[i].is_kept && is_action(parts[i]))
      lose_line(parts[i],
                "runs while the program does, and a tear-down behind it: start it before the "
                "program, or from the program");
}

}  // namespace dts::convert
