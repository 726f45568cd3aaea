// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/errexit.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/names.hpp"
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

std::string failure_line(std::string_view text, const Failures& failures, bool calls_functions) {
  const shell::Statements statements = shell::parse(text).statements;
  const auto is_plain = [](const shell::Statement& one) {
    return one.pipelines.size() == 1 &&
           std::all_of(one.pipelines[0].commands.begin(),
                       one.pipelines[0].commands.end(),
                       [](const shell::Command& command) {
                         return command.kind == shell::Command::Kind::simple;
                       });
  };
  const bool ends_anyway = !calls_functions && statements.size() == 1 && is_plain(statements[0]);
  const std::string stop = failures.stop && !ends_anyway ? "e" : "";
  if (failures.count_in_pipe && has_pipe(text)) return "set -" + stop + "o pipefail\n";
  return stop.empty() ? "" : "set -e\n";
}

namespace {

// A command that makes something, and the options with which it accepts what is there.
struct Making {
  std::string_view verb;
  std::string_view second;   // word; empty: any
  std::string_view letters;  // of short options
  std::string_view option;   // the same as a long one
};

constexpr Making k_making[] = {{"mkdir", "", "p", "--parents"},
                               {"ln", "", "f", "--force"},
                               {"mkfifo", "", "", ""},
                               {"git", "clone", "", ""},
                               {"unzip", "", "ofnu", ""},
                               {"enroot", "create", "f", "--force"},
                               {"apptainer", "pull", "F", "--force"},
                               {"apptainer", "build", "F", "--force"},
                               {"singularity", "pull", "F", "--force"},
                               {"singularity", "build", "F", "--force"}};

bool accepts_what_is_there(const Making& making, std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  if (word[1] == '-') return word == making.option;
  return word.find_first_of(making.letters) != std::string_view::npos;
}

// ((i++)) and let i=0 fail where the result is 0.
bool calculates(const shell::Statement& statement) {
  const auto& commands = statement.pipelines[0].commands;
  return commands.size() == 1 &&
         (commands[0].kind == shell::Command::Kind::arithmetic || first_word(commands[0]) == "let");
}

// A failure of these is worth an end: nothing works without them.
bool prepares_environment(std::string_view command) {
  constexpr std::string_view k_commands[] = {
      "module", "ml", "source", ".", "conda", "cd", "export", "spack", "micromamba", "mamba"};
  return is_one_of(k_commands, command);
}

bool is_for_environment(const Item& item) {
  return std::all_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
    return prepares_environment(run->name());
  });
}

// a || mkdir b: the last command decides. It does not fail (a && B=1), ends the script (a || exit
// 1) or is worth an end, or it is a compound command, which is left as it is.
bool may_fail_at_end(const shell::Pipeline& last) {
  const shell::Command& command = last.commands.back();
  if (command.kind != shell::Command::Kind::simple || command.words.empty()) return false;
  constexpr std::string_view k_decided[] = {"exit", "true", ":", "echo", "printf", "return"};
  const std::string verb = first_word(command);
  return !is_one_of(k_decided, verb) && !prepares_environment(verb);
}

// What the ERR trap of a set-up would take for the end.
bool may_fail(const Item& item) {
  if (item.statement->background || item.statement->pipelines.back().negated) return false;
  if (item.statement->pipelines.size() > 1)
    return may_fail_at_end(item.statement->pipelines.back());
  if (calculates(*item.statement)) return true;
  if (item.only_sets()) {
    const shell::Command* command = simple_command(*item.statement);
    return command != nullptr && item.source.find_first_of("`(") != std::string::npos &&
           !command->assignments.empty() && command->words.empty();
  }
  return !is_for_environment(item);
}

// A command alone that fails where it has run before. In the background, nothing depends on it.
bool fails_again(const Item& item) {
  if (simple_command(*item.statement) == nullptr || item.runs.size() != 1 ||
      item.statement->background || item.statement->pipelines[0].negated)
    return false;
  const lint::Run& run = *item.runs[0];
  const auto making =
      std::find_if(std::begin(k_making), std::end(k_making), [&](const Making& one) {
        return one.verb == verb_of(run) &&
               (one.second.empty() ||
                (run.words.size() > 1 && run.words[1].value.text == one.second));
      });
  return making != std::end(k_making) &&
         std::none_of(run.words.begin(), run.words.end(), [&](const lint::ExpandedWord& word) {
           return accepts_what_is_there(*making, word.value.text);
         });
}

}  // namespace

std::string change_of(Failures& now, const Failures& wanted, const Failures& matter) {
  std::string lines;
  if (matter.stop && now.stop != wanted.stop) lines += wanted.stop ? "set -e\n" : "set +e\n";
  if (matter.count_in_pipe && now.count_in_pipe != wanted.count_in_pipe)
    lines += wanted.count_in_pipe ? "set -o pipefail\n" : "set +o pipefail\n";
  now = wanted;
  return lines;
}

bool has_pipe(std::string_view text) {
  for (std::size_t at = text.find('|'); at != std::string_view::npos; at = text.find('|', at + 1)) {
    if (text.substr(at, 2) != "||") return true;
    ++at;
  }
  return false;
}

bool leaves_code(const Item& item) {
  const auto& pipelines = item.statement->pipelines;
  const auto& first = pipelines[0].commands;
  const bool is_compound = std::any_of(first.begin(), first.end(), [](const auto& command) {
    return command.kind != shell::Command::Kind::simple;
  });
  return !item.statement->background && !item.only_sets() &&
         (pipelines.size() > 1 || pipelines[0].negated || is_compound);
}

std::string_view failure_of_line(const Item& item, bool stops, const LinePlace& place) {
  if (place.is_tear_down) return "";
  if (!stops && may_fail(item)) return place.is_code_read ? " && true" : " || true";
  if (!fails_again(item)) return "";
  return place.is_repeated ? " || true" : R"( || [ "$DTSUBMIT_ATTEMPT" -gt 1 ])";
}

}  // namespace dts::convert
