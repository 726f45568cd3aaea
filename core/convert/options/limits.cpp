// SPDX-License-Identifier: Apache-2.0
#include "core/convert/options/limits.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/effects.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr const char* k_own_limits =
    "umask or ulimit in it changes the script's shell, but not those of the lines behind it: write "
    "it before the first program";

bool changes_limits(const Part& part) {
  return !part.item.sets.limits.empty();
}

// umask 077, ulimit -s unlimited
bool is_limit_option(const Part& part) {
  return changes_limits(part) && part.verdict.kind == Verdict::Kind::option;
}

bool may_become_line(const Part& part) {
  return part.role == Role::around && (part.verdict.kind == Verdict::Kind::kept ||
                                       part.verdict.kind == Verdict::Kind::if_needed);
}

// It starts a process or writes a file. Modules and environments do neither to speak of.
bool is_limited(const Part& part) {
  constexpr std::string_view k_settings[] = {
      "module", "ml",    "conda",  "export", "cd",         "set",  "unset", "shopt",   "echo",
      "printf", "[",     "[[",     "test",   "true",       ":",    "local", "declare", "readonly",
      "alias",  "umask", "ulimit", "mamba",  "micromamba", "eval", "trap",  "return",  "shift"};
  const Item& item = part.item;
  return may_become_line(part) &&
         (writes_file(item) || acts_inside(item) ||
          std::any_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
            const bool reads = run->name() == "source" || run->name() == ".";
            const bool activates =
                reads && run->words.size() > 1 && run->words[1].value.text.ends_with("/activate");
            return !activates && !is_one_of(k_settings, run->name());
          }));
}

}  // namespace

void settle_limits(std::vector<Part>& parts, std::size_t last) {
  const auto first = static_cast<std::size_t>(
      std::find_if(
          parts.begin(), parts.end(), [](const Part& one) { return one.role == Role::program; }) -
      parts.begin());
  bool are_options = true;
  for (std::size_t i = 0; i < last; ++i)
    if (changes_limits(parts[i]) && (may_become_line(parts[i]) || i > first)) are_options = false;
  bool is_used = false;
  for (std::size_t i = parts.size(); i-- > 0;) {
    Part& part = parts[i];
    if (i == last) is_used = false;  // a tear-down has a shell of its own
    is_used = is_used || is_limited(part);
    if (!is_limit_option(part)) continue;
    if (i > last && !is_used)
      part.verdict = {Verdict::Kind::unnecessary, "no line behind it needs it"};
    else if (i > last || !are_options)
      part.verdict = {};
    else
      part.is_kept = is_used;
  }
}

void lose_limits(const std::vector<Part>& parts,
                 std::vector<Program>& programs,
                 const std::vector<std::size_t>& places) {
  const auto has_later = [&](std::size_t at) {
    return std::any_of(
        parts.begin() + static_cast<std::ptrdiff_t>(at) + 1, parts.end(), [](const Part& one) {
          return one.role == Role::program || (one.is_kept && is_limited(one));
        });
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Part& part = parts[places[i]];
    const auto functions = called_definitions(parts, part.item);
    const bool changes = changes_limits(part) ||
                         std::any_of(functions.begin(), functions.end(), [](const Part* one) {
                           return changes_limits(*one);
                         });
    if (changes && has_later(places[i])) programs[i].losses.emplace_back(k_own_limits);
  }
}

std::string hand_on_limits(const Names& limits) {
  std::vector<std::string> commands;
  std::string values;
  for (const std::string& one : limits)
    if (one.size() == 1) values += " -" + one + " $(ulimit -S" + one + ")";
  if (limits.count("umask") > 0) commands.emplace_back("umask $(umask)");
  // As srun hands them on, which leaves the hard limits alone.
  if (!values.empty()) commands.push_back("ulimit -S" + values);
  return std::string("export ") + k_limits_handed_on + "=\"" + join(commands, "; ") + "\"\n";
}

std::string limits_before(const std::vector<Part>& parts, std::size_t last) {
  std::string lines;
  for (std::size_t i = 0; i < last; ++i)
    if (is_limit_option(parts[i])) lines += parts[i].item.source + "\n";
  return lines;
}

}  // namespace dts::convert
