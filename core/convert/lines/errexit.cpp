// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/errexit.hpp"

#include "core/base/text/text.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>
#include <optional>

namespace dts::convert {
namespace {

// What set -e, +e, -euo pipefail or -o errexit make of the option. nullopt: `run` does not change
// it. `letter`: 0 if the option has none.
std::optional<bool> option_of(const lint::Run& run, std::string_view name, char letter) {
  std::optional<bool> is_on;
  if (run.name() != "set") return is_on;
  for (std::size_t i = 1; i < run.words.size(); ++i) {
    const std::string& word = run.words[i].value.text;
    if (word.empty() || word == "--") break;
    const bool has_letter = letter != 0 && (word[0] == '-' || word[0] == '+') && word[1] != '-' &&
                            word.find(letter, 1) != std::string::npos;
    if (has_letter) is_on = word[0] == '-';
    if (word == name) is_on = run.words[i - 1].value.text.starts_with('-');
  }
  return is_on;
}

// A condition may turn the option on, not off: a failure should rather be noticed.
void change(bool& option, const lint::Run& run, std::string_view name, char letter) {
  const auto is_on = option_of(run, name, letter);
  if (is_on && (*is_on || !run.around.is_conditional)) option = *is_on;
}

}  // namespace

bool is_set_at_start(std::string_view text, std::string_view name, char letter) {
  if (!text.starts_with("#!")) return false;
  std::string first(text.substr(0, text.find_first_of("\r\n")));
  std::replace(first.begin(), first.end(), '\t', ' ');
  const std::vector<std::string> words = split(first, ' ');
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == name || (letter != 0 && word.starts_with('-') && !word.starts_with("--") &&
                            word.find(letter) != std::string::npos);
  });
}

Errexit::Errexit(std::string_view text)
    : now_{is_set_at_start(text, "errexit", 'e'), is_set_at_start(text, "pipefail", 0)} {}

void Errexit::follow(const Item& item) {
  for (const lint::Run* run : item.runs) {
    if (run->around.is_in_function) continue;
    change(now_.stop, *run, "errexit", 'e');
    change(now_.count_in_pipe, *run, "pipefail", 0);
  }
}

std::string failure_line(std::string_view text, const Failures& failures) {
  const shell::Statements statements = shell::parse(text).statements;
  const auto is_plain = [](const shell::Statement& one) {
    return one.pipelines.size() == 1 &&
           std::all_of(one.pipelines[0].commands.begin(),
                       one.pipelines[0].commands.end(),
                       [](const shell::Command& command) {
                         return command.kind == shell::Command::Kind::simple;
                       });
  };
  const bool ends_anyway = statements.size() == 1 && is_plain(statements[0]);
  const bool has_pipe = text.find('|') != std::string_view::npos;
  const std::string stop = failures.stop && !ends_anyway ? "e" : "";
  if (failures.count_in_pipe && has_pipe) return "set -" + stop + "o pipefail\n";
  return stop.empty() ? "" : "set -e\n";
}

}  // namespace dts::convert
