// SPDX-License-Identifier: Apache-2.0
#include "core/convert/choice.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/tools.hpp"

#include <algorithm>
#include <map>

namespace dts::convert {
namespace {

constexpr std::string_view k_sayers[] = {"echo", "printf", "date", "clear", "[", "test"};

// Of echo and its like: other lines of a script that only prints are more of a program.
bool only_says(const Item& item) {
  return std::all_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
    return is_one_of(k_sayers, verb_of(*run));
  });
}

// echo done > finished, too
bool prints_or_says(const Item& item) {
  return only_prints(item) || only_says(item);
}

// aws sns publish, find out | sort
bool only_tidies(const Item& item) {
  const auto& pipelines = item.statement->pipelines;
  const auto is_simple = [](const shell::Command& one) {
    return one.kind == shell::Command::Kind::simple;
  };
  return pipelines.size() == 1 && !item.runs.empty() &&
         std::all_of(pipelines[0].commands.begin(), pipelines[0].commands.end(), is_simple) &&
         std::all_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
           return is_tidying(*run);
         });
}

bool is_beside_program(const Item& item) {
  return prints_or_says(item) || only_tidies(item) ||
         (item.runs.size() == 1 && asks_python(*item.runs[0]));
}

// The functions that start a program themselves or call one that does. `all`: the script's
// functions.
Names working_functions(const std::vector<Part>& parts, const Names& all) {
  std::map<std::string, std::vector<const Part*>> callers;
  std::vector<const Part*> open;
  for (const Part& part : parts) {
    if (part.item.sets.functions.empty()) continue;
    for (const lint::Run* run : part.item.runs)
      if (all.count(run->name()) > 0)
        callers[run->name()].push_back(&part);
      else if (works_anywhere(*run))
        open.push_back(&part);
  }
  Names working;
  while (!open.empty()) {
    const Part* part = open.back();
    open.pop_back();
    for (const std::string& name : part->item.sets.functions) {
      if (!working.insert(name).second) continue;
      const std::vector<const Part*>& more = callers[name];
      open.insert(open.end(), more.begin(), more.end());
    }
  }
  return working;
}

// Functions that run their arguments: cmd() { echo "$@"; eval "$@"; }
Names wrapping_functions(const std::vector<Part>& parts) {
  Names wrapping;
  for (const Part& part : parts) {
    const auto& runs = part.item.runs;
    if (std::any_of(runs.begin(), runs.end(), [](const lint::Run* run) {
          return run->around.is_in_function &&
                 (run->name() == "eval" || run->name().find(lint::k_unknown) != std::string::npos);
        }))
      wrapping.insert(part.item.sets.functions.begin(), part.item.sets.functions.end());
  }
  return wrapping;
}

// The script's functions by what they do.
struct Functions {
  Names all;
  Names working;   // start a program
  Names wrapping;  // run their arguments
  Names idle;      // do neither

  // True if the command starts a program itself or calls a function that does.
  [[nodiscard]] bool do_work(const lint::Run& run) const {
    if (all.count(run.name()) == 0) return does_work(run);
    if (working.count(run.name()) > 0) return true;
    return wrapping.count(run.name()) > 0 && run.words.size() > 1 &&
           is_work_by_name(run.words[1].value.text);
  }
};

Functions functions_of(const std::vector<Part>& parts) {
  Functions functions;
  functions.all = functions_in(parts);
  functions.working = working_functions(parts, functions.all);
  functions.wrapping = wrapping_functions(parts);
  for (const std::string& name : functions.all)
    if (functions.working.count(name) + functions.wrapping.count(name) == 0)
      functions.idle.insert(name);
  return functions;
}

// True for log "finished".
bool only_calls(const Item& item, const Names& idle) {
  return item.runs.size() == 1 && idle.count(item.runs[0]->name()) > 0;
}

// The last first: srun -l hostname | sort starts hostname, echo x; ./prog starts prog.
std::vector<const lint::Run*> launched_first(std::vector<const lint::Run*> runs) {
  std::reverse(runs.begin(), runs.end());
  std::stable_partition(runs.begin(), runs.end(), [](const lint::Run* run) {
    return run->launch.launcher != lint::Launcher::none;
  });
  return runs;
}

// Makes a program of the last part that can be one; false if there is none. `idle`: functions that
// start none.
bool choose_last(std::vector<Part>& parts, const Names& idle, bool (*is_less)(const Item&)) {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const bool is_check = reads_exit_code(part->item) && is_less != nullptr;
    if (part->item.only_sets() || begins_with_option(part->item) || is_check ||
        (is_less != nullptr && is_less(part->item)) || only_calls(part->item, idle))
      continue;
    for (const lint::Run* run : launched_first(part->item.runs)) {
      const bool says = is_less != nullptr && is_one_of(k_sayers, verb_of(*run));
      if (says || is_auxiliary(verb_of(*run)) || run->around.is_in_function) continue;
      part->item.mains.push_back(run);
      part->role = Role::program;
      return true;
    }
  }
  return false;
}

// A job that only moves, packs or fetches files: its last such line, which may take as long as the
// job. False: there is none.
bool choose_last_tool(std::vector<Part>& parts) {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->item.only_sets() || submits(part->item)) continue;
    for (const lint::Run* run : part->item.runs) {
      if (run->around.is_in_function || !is_tool(*run)) continue;
      part->item.mains.push_back(run);
      part->role = Role::program;
      return true;
    }
  }
  return false;
}

// No launcher and no Python script: the last program there is, of a first try of a cluster the last
// line.
void choose_program(std::vector<Part>& parts, const Names& idle) {
  const auto last = std::find_if(parts.rbegin(), parts.rend(), [&idle](const Part& part) {
    const auto& runs = part.item.runs;
    return !part.item.only_sets() && !prints_or_says(part.item) && !only_calls(part.item, idle) &&
           std::any_of(runs.begin(), runs.end(), [](const lint::Run* run) {
             return !is_auxiliary(verb_of(*run));
           });
  });
  if (last != parts.rend() && only_tidies(last->item) &&
      choose_last(parts, idle, &is_beside_program))
    return;
  if (choose_last(parts, idle, &prints_or_says) || choose_last_tool(parts) ||
      choose_last(parts, idle, &only_says))
    return;
  if (!choose_last(parts, idle, nullptr)) (void)choose_last(parts, {}, nullptr);
}

// The same program before the chosen one is no preparation: ./solver mesh, ./solver run.
void choose_alike(std::vector<Part>& parts) {
  const auto last = std::find_if(
      parts.begin(), parts.end(), [](const Part& part) { return part.role == Role::program; });
  if (last == parts.end()) return;
  const std::string verb = verb_of(*last->item.mains.front());
  for (auto part = parts.begin(); part != last; ++part) {
    Item& item = part->item;
    if (part->role != Role::around || item.only_sets() || item.statement->background) continue;
    for (const lint::Run* run : item.runs)
      if (verb_of(*run) == verb && does_work(*run) && !asks_version(*run) && !only_prepares(*run))
        item.mains.push_back(run);
    if (!item.mains.empty()) part->role = Role::program;
  }
}

// CMD="module load x"; eval $CMD: "module", which prepares the shell as if it were written without
// eval; empty: something else.
std::string preparing_command(const lint::Run& eval) {
  std::vector<std::string> words;
  for (std::size_t i = 1; i < eval.words.size(); ++i)
    for (const std::string& word : split(eval.words[i].value.text, ' '))
      if (!word.empty()) words.push_back(word);
  const std::string all = join(words, " ");
  if (words.size() < 2 || all.find_first_of(";&|\n(`<>") != std::string::npos) return "";
  constexpr std::string_view k_preparing[] = {"cd", "module", "ml", "ulimit", "umask"};
  const bool prepares =
      is_one_of(k_preparing, words[0]) || (words[0] == "conda" && words[1] == "activate");
  return prepares ? words[0] : "";
}

// eval $CMD: what it runs, only the shell of the job knows.
bool evaluates_variable(const Item& item) {
  const shell::Command* command = simple_command(*item.statement);
  if (command == nullptr || command->words.size() < 2 || first_word(*command) != "eval")
    return false;
  const auto& pieces = command->words[1].pieces;
  const auto first = std::find_if(pieces.begin(), pieces.end(), [](const shell::Piece& piece) {
    return piece.kind != shell::Piece::Kind::literal || !piece.text.empty();
  });
  return first != pieces.end() && first->kind == shell::Piece::Kind::parameter;
}

void choose_evaluated(std::vector<Part>& parts) {
  for (Part& part : parts) {
    if (part.role != Role::around || part.item.runs.empty() || !evaluates_variable(part.item))
      continue;
    const std::string preparing = preparing_command(*part.item.runs[0]);
    part.item.sets.changes_folder = part.item.sets.changes_folder || preparing == "cd";
    if (!preparing.empty()) continue;
    part.item.mains.push_back(part.item.runs[0]);
    part.role = Role::program;
  }
}

// A program in the background that the script waits for is one of the job, wherever it stands.
void choose_waited_for(std::vector<Part>& parts, const Names& functions) {
  bool is_waited_for = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const Item& item = part->item;
    is_waited_for = is_waited_for || waits(item);
    if (std::any_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
          return run->name() == "kill" || run->name() == "pkill" || run->name() == "killall";
        }))
      return;  // what runs in the background is a service, which the script ends
    if (!is_waited_for || part->role != Role::around || !item.statement->background ||
        !item.sets.functions.empty())
      continue;
    for (const lint::Run* run : item.runs)
      if (does_work(*run) && functions.count(run->name()) == 0) part->item.mains.push_back(run);
    if (!item.mains.empty()) part->role = Role::program;
  }
}

// Other programs behind the first one, or beside it, do work of the job as well: a tear-down has
// seconds.
void choose_programs_behind(std::vector<Part>& parts, const Functions& functions) {
  bool is_behind = false;
  bool is_beside = false;  // a program in the background has not been waited for
  for (Part& part : parts) {
    const Item& item = part.item;
    is_beside = is_beside && !waits(item);
    const bool is_candidate = part.role == Role::around && is_behind && !item.only_sets() &&
                              item.sets.functions.empty() && !only_prints(item) &&
                              (is_beside || !item.statement->background);
    if (is_candidate)
      for (const lint::Run* run : item.runs)
        if (functions.do_work(*run) || installs(*run)) part.item.mains.push_back(run);
    if (is_candidate && !item.mains.empty()) part.role = Role::program;
    if (part.role != Role::program) continue;
    is_behind = true;
    is_beside = is_beside || leaves_running(item);
  }
}

}  // namespace

void choose_programs(std::vector<Part>& parts, bool is_one_node) {
  const Functions functions = functions_of(parts);
  choose_evaluated(parts);
  if (is_one_node) choose_waited_for(parts, functions.all);
  const bool has_program = std::any_of(
      parts.begin(), parts.end(), [](const Part& part) { return part.role == Role::program; });
  if (!has_program) {
    choose_program(parts, functions.idle);
    choose_alike(parts);
  }
  choose_programs_behind(parts, functions);
}

}  // namespace dts::convert
