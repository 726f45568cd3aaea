// SPDX-License-Identifier: Apache-2.0
// The text of a set-up or tear-down, from the lines that stay.
#include "core/base/text/text.hpp"
#include "core/convert/codes.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/errexit.hpp"
#include "core/convert/lines/tools.hpp"
#include "core/convert/options/limits.hpp"
#include "core/convert/parts.hpp"
#include "core/convert/words/once.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::convert {
namespace {

// A monitor in the background, whose dates are its own.
bool watches_time_beside(const std::vector<Part>& parts, const Item& item) {
  if (!item.statement->background) return false;
  Names calls;  // not ./monitor.sh watch, whose process $! is
  for (const lint::Run* run : item.runs) calls.insert(run->name());
  return watches_time(*item.statement) ||
         std::any_of(parts.begin(), parts.end(), [&](const Part& one) {
           return meets(one.item.sets.functions, calls) && watches_time(*one.item.statement);
         });
}

// Without the function `date` of same_for_all().
std::string with_own_dates(std::string_view text) {
  constexpr std::string_view k_unset = " unset -f date; ";
  text = trim(text);
  const bool is_list = text.starts_with("{ ") || (text[0] == '(' && !text.starts_with("(("));
  return is_list ? fmt::format("{}{}{}", text[0], k_unset, trim(text.substr(1)))
                 : fmt::format("{{{}{}; }}", k_unset, text);
}

std::string line_of(const Part& part,
                    bool has_many_nodes,
                    const Rendezvous& rendezvous,
                    const LinePlace& place,
                    const Turn& turn,
                    bool own_dates) {
  const Item& item = part.item;
  if (is_first_node(item, rendezvous, has_many_nodes)) return first_node_line(item) + "\n";
  std::string text = part.verdict.text.empty()
                         ? item.source.substr(0, item.source.size() - item.tail.size())
                         : part.verdict.text;
  if (has_many_nodes) text = with_first_node(item, std::move(text));
  if (own_dates) text = with_own_dates(text);
  if (item.statement->background) text += " &";
  const std::string_view end = failure_of_line(item, part.failures.stop, place);
  if (place.are_pipe_codes_read && !end.empty() && part.verdict.text.empty())
    text.insert(item.statement->pipelines.back().span.begin - item.span().begin, "! ");
  else
    text += end;
  text += item.tail;
  const bool ends_on_code = reads_exit_code(item) && ends_only(item);  // of the `if` before it
  return has_many_nodes && !ends_on_code ? in_turn(item, text, turn) : text + "\n";
}

bool is_in_set_up(const Part& part) {
  return part.is_kept && part.role == Role::around;
}

std::string first_word_of(const Item& item) {
  const shell::Command* command = simple_command(*item.statement);
  return command == nullptr ? "" : first_word(*command);
}

// shopt -s nullglob
std::string setting_of_patterns(const Item& item) {
  return first_word_of(item) == "shopt" ? item.source + "\n" : "";
}

const std::string* variable_alone(const Part& part) {
  return part.verdict.text.empty() ? only_variable(part.item) : nullptr;
}

// A later line sets the variable again before anything uses it: turns of a loop do so.
bool is_overridden(const std::vector<Part>& parts, std::size_t at, std::size_t end) {
  const std::string* name = variable_alone(parts[at]);
  if (name == nullptr || !only_computes(parts[at].item)) return false;
  for (std::size_t i = at + 1; i < end; ++i) {
    const Part& later = parts[i];
    if (!is_in_set_up(later)) continue;
    if (reads_anything(later.item) || later.item.used.count(*name) > 0) return false;
    const std::string* other = variable_alone(later);
    const bool is_export = parts[at].item.sets.exported.size() <= later.item.sets.exported.size();
    if (other != nullptr && *other == *name) return is_export;
    if (later.item.words.count(*name) > 0) return false;
  }
  return false;
}

std::size_t first_program(const std::vector<Part>& parts) {
  const auto first = std::find_if(
      parts.begin(), parts.end(), [](const Part& one) { return one.role == Role::program; });
  return static_cast<std::size_t>(first - parts.begin());
}

// `own`: functions of the script.
void add_calls_of_files(const Item& item, const Names& own, Names& calls) {
  if (!item.follows_file) return;
  for (const lint::Run* run : item.runs)
    if (may_be_of_file(*run) && own.count(run->name()) == 0) calls.insert(run->name());
}

// What the part's line changes of the set-up's shell; the programs have limits that are options.
void add_names(const Part& part, SetNames& all) {
  const SetNames& sets = part.item.sets;
  if (part.verdict.kind != Verdict::Kind::option)
    all.limits.insert(sets.limits.begin(), sets.limits.end());
  all.variables.insert(sets.variables.begin(), sets.variables.end());
  all.arrays.insert(sets.arrays.begin(), sets.arrays.end());
  all.functions.insert(sets.functions.begin(), sets.functions.end());
  all.exported.insert(sets.exported.begin(), sets.exported.end());
  all.inherited.insert(sets.inherited.begin(), sets.inherited.end());
  all.changes_folder |= sets.changes_folder;
}

// Of a line before the first program, if `is_shared`.
Others others_of(SetUpOf user, bool is_shared) {
  if (user == SetUpOf::step || user == SetUpOf::first_role) return Others::wait;
  return user == SetUpOf::later_role && is_shared ? Others::lead : Others::ignore;
}

}  // namespace

SetUpText set_up_of(const std::vector<Part>& parts,
                    std::size_t begin,
                    std::size_t own,
                    std::size_t end,
                    bool has_many_nodes,
                    const Rendezvous& rendezvous,
                    SetUpOf user) {
  const bool is_tear_down = user == SetUpOf::tear_down;
  const std::size_t shared = first_program(parts);
  const Names functions = is_tear_down ? functions_in(parts) : Names();
  const Failures matter = failures_that_matter(parts, begin, end, is_tear_down, has_many_nodes);
  Failures set;
  const Item* last = nullptr;
  SetUpText made;
  for (std::size_t i = begin; i < end; ++i) {
    const Part& part = parts[i];
    if (!is_in_set_up(part) || is_overridden(parts, i, end)) continue;
    if (part.ended_at < end || (i < own && is_run_once(part.item))) continue;
    made.patterns += setting_of_patterns(part.item);
    made.reads_settings |= reads_settings(part.item);
    if (!begins_with_code(part.item))
      made.text += change_of(set, failures_of_line(part, has_many_nodes), matter);
    const bool is_code_read = hands_on_code(parts, i);
    const bool is_on_each = has_many_nodes && runs_on(part.item) != RunsOn::first;
    const LinePlace place{is_tear_down,
                          is_code_read,
                          i < own || is_on_each,
                          is_code_read && reads_pipe_codes(parts[i + 1].item)};
    const bool is_shared = i < shared && part.ended_at >= shared;
    const Turn turn{i, is_code_read, others_of(user, is_shared)};
    last = &part.item;
    made.text += line_of(
        part, has_many_nodes, rendezvous, place, turn, watches_time_beside(parts, part.item));
    if (is_tear_down) add_calls_of_files(part.item, functions, made.of_files);
    add_names(part, made.sets);
  }
  made.hands_on_code = !is_tear_down && end < parts.size() && takes_code_of_set_up(parts, end);
  if (made.hands_on_code)
    made.text += "export SCRIPT_CODE=$?\n";
  else if (!is_tear_down && last != nullptr)
    made.text += end_without_code(*last, made.text);
  if (is_tear_down && !made.text.empty()) made.text = limits_before(parts, begin) + made.text;
  made.text =
      with_turns(std::move(made.text), user == SetUpOf::first_role || user == SetUpOf::later_role);
  return made;
}

}  // namespace dts::convert
