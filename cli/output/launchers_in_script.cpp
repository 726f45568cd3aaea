// SPDX-License-Identifier: Apache-2.0
#include "cli/output/launchers_in_script.hpp"

#include "core/base/text/text.hpp"
#include "core/lint/script/runs.hpp"
#include "core/plan/layout/check_own_launcher.hpp"
#include "core/plan/program/own_launcher.hpp"
#include "core/plan/torch_variables.hpp"
#include "core/shell/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

namespace dts::cli {
namespace {

using VariableNames = std::set<std::string, std::less<>>;

std::string_view text_at(std::string_view text, std::size_t begin, std::size_t end) {
  begin = std::min(begin, text.size());
  return text.substr(begin, std::max(begin, end) - begin);
}

// True if `text` uses a variable that tells ranks, nodes or jobs apart, or one of `names`.
bool names_place(std::string_view text, const VariableNames& names) {
  if (text.find("hostname") != text.npos) return true;
  for (std::size_t at = text.find('$'); at != text.npos; at = text.find('$', at + 1)) {
    std::string_view rest = text.substr(at + 1);
    if (rest.starts_with('{')) rest.remove_prefix(1);
    const std::string_view name = rest.substr(
        0,
        rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"));
    if (is_one_of(plan::k_torch_variables, name) || name.starts_with("SLURM_") ||
        name.starts_with("DTSUBMIT_") || name == "HOSTNAME" || names.contains(name))
      return true;
  }
  return false;
}

// The script's own variables that are made of such: NODES=${SLURM_NNODES:-1}.
VariableNames place_names(const lint::Runs& read, std::string_view text) {
  VariableNames names;
  for (const lint::Assigned& one : read.assigned)
    if (names_place(text_at(text, one.value_span.begin, one.value_span.end), names))
      names.insert(one.name);
  return names;
}

// `if [ $SLURM_NNODES = 1 ]; then torchrun ...`
bool is_conditional_on_place(const lint::Run& run,
                             const lint::Runs& read,
                             std::string_view text,
                             const VariableNames& names) {
  if (!run.around.is_conditional) return false;
  std::size_t begin = 0;  // of the statement
  for (const lint::Run& other : read.runs)
    if (other.statement < run.statement && other.span.end <= run.span.begin)
      begin = std::max(begin, other.span.end);
  for (const lint::Assigned& one : read.assigned)
    if (!one.around.is_conditional && one.span.end <= run.span.begin)
      begin = std::max(begin, one.span.end);
  return names_place(text_at(text, begin, run.span.begin), names);
}

// True if the script knows where it runs the launcher, also by `[ $SLURM_LOCALID = 0 ] || exit 0`
// before it.
bool is_chosen_by_place(const lint::Run& run,
                        const lint::Runs& read,
                        std::string_view text,
                        const VariableNames& names) {
  constexpr std::string_view k_ends[] = {"exit", "exec", "return"};
  return std::any_of(read.runs.begin(), read.runs.end(), [&](const lint::Run& other) {
    const bool is_before = other.span.end <= run.span.begin && is_one_of(k_ends, other.name());
    return (&other == &run || is_before) && is_conditional_on_place(other, read, text, names);
  });
}

// What is not certain is a marker, which no check takes for a value. The text of a command whose
// output is used, and a variable in it, is no value either.
std::vector<std::string> words_as_read(const lint::Run& run) {
  std::vector<std::string> words;
  for (const lint::ExpandedWord& word : run.words) {
    words.push_back(word.value.is_certain ? word.value.text : std::string(1, lint::k_unknown));
    if (!word.value.is_known())
      std::replace(words.back().begin(), words.back().end(), '$', lint::k_unknown);
  }
  return words;
}

// True for `torchrun "$@"` and `torchrun $OPTIONS`: the script does not show all of its options.
bool has_unread_options(const plan::OwnLauncher& launcher) {
  const std::size_t end = plan::program_at(launcher);
  for (std::size_t i = launcher.arguments; i < end; ++i) {
    const std::string& before = launcher.words[i - 1];
    const bool is_value =
        i > launcher.arguments && before.starts_with('-') && before.find('=') == std::string::npos;
    if (launcher.words[i].starts_with(lint::k_unknown) && !is_value) return true;
  }
  const auto file = plan::option_of(launcher, "--config-file");
  return file && file->find(lint::k_unknown) != std::string::npos;
}

// True if the script sets torchrun's variables, or those of a program that starts it.
bool sets_variables(const lint::Run& run,
                    const lint::Runs& read,
                    const plan::OwnLauncher& launcher) {
  const auto is_its = [&](std::string_view name) {
    return name.starts_with("PET_") || (launcher.count.empty() && name == "NNODES");
  };
  return launcher.kind == plan::OwnLauncher::Kind::torchrun &&
         (std::any_of(read.assigned.begin(),
                      read.assigned.end(),
                      [&](const lint::Assigned& one) { return is_its(one.name); }) ||
          std::any_of(run.words.begin(), run.words.end(), [&](const lint::ExpandedWord& word) {
            const std::string& text = word.value.text;  // env PET_NNODES=2 torchrun
            return is_its(std::string_view(text).substr(0, text.find('=')));
          }));
}

// `mpirun --version`
bool only_tells(const plan::OwnLauncher& launcher) {
  constexpr std::string_view k_questions[] = {"--version", "-V", "--help", "-h"};
  return launcher.words.size() > launcher.arguments &&
         is_one_of(k_questions, launcher.words[launcher.arguments]);
}

}  // namespace

std::vector<std::string> notes_on_launchers(const plan::Plan& plan,
                                            const std::string& name,
                                            const std::string& text) {
  std::vector<std::string> notes;
  const shell::Script tree = shell::parse(text);
  const lint::Runs read = lint::runs_of(tree, text);
  const VariableNames names = place_names(read, text);
  for (const lint::Run& run : read.runs) {
    const plan::OwnLauncher launcher = plan::find_own_launcher(words_as_read(run));
    if (launcher.kind == plan::OwnLauncher::Kind::none || only_tells(launcher)) continue;
    // `[ $RANK = 0 ] && mpirun ...`; the launcher of a node's processes needs a place even there.
    if (run.around.is_conditional && !plan::starts_processes_of_node(launcher)) continue;
    if (is_chosen_by_place(run, read, text, names)) continue;
    const bool may_know = has_unread_options(launcher) || sets_variables(run, read, launcher);
    for (const Diagnostic& problem : plan::problems_in_script(plan, launcher, may_know)) {
      std::string note = fmt::format("note: {}: {}; {}", name, problem.message, problem.hint);
      if (std::find(notes.begin(), notes.end(), note) == notes.end())
        notes.push_back(std::move(note));
    }
  }
  return notes;
}

}  // namespace dts::cli
