// SPDX-License-Identifier: Apache-2.0
#include "core/convert/codes.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/expand/shapes.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/program/no_program.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace dts::convert {
namespace {

constexpr const char* k_pipe_of_first_node =
    "only the first node runs the line or the one before it, whose PIPESTATUS it reads: read $? "
    "with `set -o pipefail` instead";
constexpr const char* k_both_codes =
    "reads $? and PIPESTATUS of the line before it: read PIPESTATUS alone, which has both";

// The first line of the function of that definition; null: it has another form.
const shell::Statement* first_line(const Item& definition) {
  const shell::Command* function = whole_command(*definition.statement);
  if (function == nullptr || function->kind != shell::Command::Kind::function ||
      function->bodies.size() != 1 || function->bodies[0].size() != 1)
    return nullptr;
  const shell::Command* group = whole_command(function->bodies[0][0]);
  if (group == nullptr || group->bodies.empty() || group->bodies[0].empty()) return nullptr;
  return &group->bodies[0][0];
}

// Those in the command's own words, not in the commands within it.
void each_expansion_of_words(const shell::Command& command,
                             const std::function<void(const shell::Piece&)>& see) {
  shell::Command words = command;
  words.conditions.clear();
  words.bodies.clear();
  shell::Statement alone;
  alone.pipelines.push_back({command.span, false, {std::move(words)}});
  each_expansion({alone}, see);
}

// The exit code is only handed on: CODE=$?; rm -rf x; exit $CODE
bool only_hands_on(const Item& definition, const std::string& name) {
  constexpr std::string_view k_ends[] = {"exit", "return", "echo", "printf", "local"};
  bool only = true;
  each_command(*definition.statement, [&](const shell::Command& command) {
    each_expansion_of_words(command, [&](const shell::Piece& piece) {
      only = only && (piece.text != name || is_one_of(k_ends, first_word(command)));
    });
  });
  return only;
}

// Functions that begin with the exit code of the line before their call.
Names functions_with_codes(const std::vector<Part>& parts) {
  Names functions;
  for (const Part& part : parts) {
    const Item& item = part.item;
    const shell::Statement* first = item.sets.functions.empty() ? nullptr : first_line(item);
    if (first == nullptr) continue;
    bool reads = false;
    each_expansion({*first}, [&](const shell::Piece& piece) {
      reads = reads || piece.text == "?" || piece.text == "PIPESTATUS";
    });
    each_command(*first, [&](const shell::Command& command) {
      reads = reads || functions.count(first_word(command)) > 0;
    });
    const SetNames sets = set_names(*first);
    const bool is_stored =
        sets.variables.size() == 1 && only_hands_on(item, *sets.variables.begin());
    if (reads && !is_stored) functions.merge(Names(item.sets.functions));
  }
  return functions;
}

bool calls_one_of(const Item& item, const Names& functions) {
  return std::any_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
    return functions.count(run->name()) > 0;
  });
}

void lose_codes_of_programs(std::vector<Part>& parts) {
  const Names functions = functions_with_codes(parts);
  Names codes;
  bool is_behind = false;
  for (Part& part : parts) {
    is_behind = is_behind || part.role == Role::program;
    if (part.role != Role::around || !is_behind) continue;
    const SetNames& sets = part.item.sets;
    const bool uses = std::any_of(codes.begin(), codes.end(), [&](const std::string& name) {
      return part.item.used.count(name) > 0;
    });
    if (!uses && !reads_exit_code(part.item) && !calls_one_of(part.item, functions)) continue;
    codes.insert(sets.variables.begin(), sets.variables.end());
    if (part.verdict.kind != Verdict::Kind::kept) continue;
    if (part.item.runs.empty() || ends_only(part.item))
      part.verdict = {Verdict::Kind::unnecessary,
                      "a program that fails ends the run, with its exit code"};
    else
      part.verdict = {Verdict::Kind::lost, k_acts_on_exit};
  }
}

// The command that a shell runs first in the statement.
const shell::Command& first_run_of(const shell::Statement& statement) {
  const shell::Command& command = statement.pipelines[0].commands[0];
  using Kind = shell::Command::Kind;
  const bool is_list = command.kind == Kind::group || command.kind == Kind::subshell;
  if (is_list && !command.bodies.empty() && !command.bodies[0].empty())
    return first_run_of(command.bodies[0][0]);
  if (!command.conditions.empty() && !command.conditions[0].empty())
    return first_run_of(command.conditions[0][0]);
  return command;
}

// True if `names` are expanded in the words of that command, before any command sets them anew.
bool begins_with(const shell::Statement& statement, const Names& names) {
  bool begins = false;
  each_expansion_of_words(first_run_of(statement), [&](const shell::Piece& piece) {
    begins = begins || names.count(piece.text) > 0;
  });
  return begins;
}

bool is_set_up(const std::vector<Part>& parts, std::size_t place) {
  return place > 0 && parts[place - 1].role == Role::around && parts[place - 1].is_kept;
}

// A failure within it is not one of the line.
bool has_subshell(const Item& item) {
  bool has = false;
  each_command(*item.statement, [&has](const shell::Command& command) {
    has = has || command.kind == shell::Command::Kind::subshell;
  });
  return has && item.sets.functions.empty();
}

bool can_fail(const Item& item) {
  static constexpr std::string_view k_never[] = {"echo", "printf", "sleep", "date", "hostname"};
  return !std::all_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
    return is_one_of(k_never, verb_of(*run));
  });
}

bool runs_on_each(const Item& item) {
  const RunsOn where = runs_on(item);
  return where == RunsOn::each || where == RunsOn::each_unlike;
}

bool may_stay(const Part& part) {
  const Verdict::Kind kind = part.verdict.kind;
  return part.role == Role::around &&
         (kind == Verdict::Kind::kept || kind == Verdict::Kind::if_needed);
}

// `!`, by which PIPESTATUS outlives the ERR trap, replaces $?.
void lose_both_codes(std::vector<Part>& parts, std::size_t last) {
  for (std::size_t i = 1; i < std::min(last, parts.size()); ++i) {
    Part& part = parts[i];
    if (may_stay(part) && !parts[i - 1].failures.stop && begins_with(*part.item.statement, {"?"}) &&
        reads_pipe_codes(part.item))
      part.verdict = {Verdict::Kind::lost, k_both_codes};
  }
}

// Only $? passes from and to what the first node alone runs.
void lose_pipe_codes_of_first_node(std::vector<Part>& parts, std::size_t last) {
  for (std::size_t i = 1; i < std::min(last, parts.size()); ++i) {
    Part& part = parts[i];
    const bool are_on_each = runs_on_each(parts[i - 1].item) && runs_on_each(part.item);
    if (may_stay(part) && !are_on_each && reads_pipe_codes(part.item))
      part.verdict = {Verdict::Kind::lost, k_pipe_of_first_node};
  }
}

}  // namespace

void keep_what_is_checked(std::vector<Part>& parts, std::size_t last) {
  for (std::size_t i = 0; i + 1 < parts.size() && i < last; ++i) {
    const Part& next = parts[i + 1];
    const bool is_read = next.role == Role::program ? begins_with(*next.item.statement, {"?"})
                                                    : reads_exit_code(next.item);
    Part& part = parts[i];
    if (part.role != Role::around || !is_read || !can_fail(part.item)) continue;
    if (part.verdict.kind == Verdict::Kind::if_needed ||
        (part.verdict.kind == Verdict::Kind::unnecessary && only_prints(part.item)))
      part.verdict = {};
  }
}

std::string note_on_limit(const Part& part) {
  const auto limits = part.verdict.settings.find("ulimit");
  if (limits == part.verdict.settings.end() || part.failures.stop) return "";
  const auto& values = limits->second.texts;
  const bool may_fail = std::any_of(values.begin(), values.end(), [](const std::string& value) {
    return !value.ends_with("=0");
  });
  return may_fail ? "ends the job where the node's hard limit is lower; the script goes on" : "";
}

bool calls_functions(const Item& item) {
  const bool may_call_of_file =
      item.follows_file && std::any_of(item.runs.begin(),
                                       item.runs.end(),
                                       [](const lint::Run* run) { return may_be_of_file(*run); });
  return (item.calls_own_function || may_call_of_file) && item.sets.functions.empty();
}

Failures failures_that_matter(const std::vector<Part>& parts,
                              std::size_t begin,
                              std::size_t end,
                              bool is_tear_down,
                              bool has_many_nodes) {
  Failures matter;
  bool have_pipes = false;
  bool count_in_pipe = false;
  for (std::size_t i = begin; i < end; ++i) {
    const Part& part = parts[i];
    if (part.role != Role::around || !part.is_kept) continue;
    count_in_pipe = count_in_pipe || part.failures.count_in_pipe;
    have_pipes = have_pipes || has_pipe(part.item.source);
    const bool hides = has_subshell(part.item) || (!has_many_nodes && calls_functions(part.item));
    matter.stop = matter.stop || (part.failures.stop && !is_tear_down && hides);
  }
  matter.count_in_pipe = count_in_pipe && have_pipes;
  return matter;
}

Failures failures_of_line(const Part& part, bool has_many_nodes) {
  Failures wanted = part.failures;
  if (has_many_nodes && calls_functions(part.item)) wanted.stop = false;
  return wanted;
}

std::string_view end_without_code(const Item& last, std::string_view text) {
  const bool is_ignored = text.ends_with("|| true\n") || text.ends_with("|| true\nfi\n");
  return leaves_code(last) && !is_ignored ? "true\n" : "";
}

bool hands_on_code(const std::vector<Part>& parts, std::size_t place) {
  if (place + 1 >= parts.size()) return false;
  const Part& next = parts[place + 1];
  return next.role == Role::program ? takes_code_of_set_up(parts, place + 1)
                                    : next.is_kept && reads_exit_code(next.item);
}

bool reads_pipe_codes(const Item& item) {
  return begins_with(*item.statement, {"PIPESTATUS"});
}

bool begins_with_code(const Item& item) {
  return begins_with(*item.statement, {"?", "PIPESTATUS"});
}

bool takes_code_of_set_up(const std::vector<Part>& parts, std::size_t place) {
  return is_set_up(parts, place) && parts[place].role == Role::program &&
         begins_with(*parts[place].item.statement, {"?"});
}

void lose_code_of_set_up(const std::vector<Part>& parts, std::size_t place, Program& program) {
  if (!is_set_up(parts, place)) return;
  if (reads_pipe_codes(parts[place].item))
    program.losses.emplace_back(
        "PIPESTATUS of a line of the set-up, which has a shell of its own: store it in a variable");
}

void lose_exit_codes(std::vector<Part>& parts, std::size_t last, bool has_many_nodes) {
  lose_codes_of_programs(parts);
  lose_both_codes(parts, last);
  if (has_many_nodes) lose_pipe_codes_of_first_node(parts, last);
}

}  // namespace dts::convert
