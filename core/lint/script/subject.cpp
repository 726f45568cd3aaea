// SPDX-License-Identifier: Apache-2.0
#include "core/lint/script/subject.hpp"

#include "core/base/text/text.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>

namespace dts::lint {
namespace {

std::string blanked(std::string_view text, const shell::Script& script) {
  std::string plain = in_lower_case(text);
  for (const Span& comment : script.comments)
    std::fill(plain.begin() + static_cast<std::ptrdiff_t>(comment.begin),
              plain.begin() + static_cast<std::ptrdiff_t>(comment.end),
              ' ');
  return plain;
}

bool names_training(const std::string& word) {
  const std::string name = in_lower_case(base_name(word));
  if (name.find("eval") != std::string::npos || name.find("preprocess") != std::string::npos ||
      name.find("tokeniz") != std::string::npos)
    return false;
  return name.find("train") != std::string::npos || name.find("finetun") != std::string::npos ||
         name.find("fine_tun") != std::string::npos;
}

// True for options that only trainings have.
bool optimizes(const Run& run) {
  for (const ExpandedWord& word : run.words) {
    const std::string option = in_lower_case(word.value.text);
    if (!option.starts_with('-')) continue;
    for (const char* name :
         {"epoch", "learning", "--lr", "train-", "train_", "max-steps", "max_steps"})
      if (option.find(name) != std::string::npos) return true;
  }
  return false;
}

// A script for another interpreter has #SBATCH lines as well, but no commands that we can read.
bool is_shell_script(std::string_view text) {
  if (!text.starts_with("#!")) return true;
  std::string line(text.substr(2, text.find('\n') - 2));
  std::replace(line.begin(), line.end(), '\t', ' ');
  for (const std::string& word : split(trim(line), ' ')) {
    const std::string name = base_name(std::string(trim(word)));
    if (name.empty() || name == "env" || name[0] == '-') continue;
    return name == "bash" || name == "sh" || name == "dash" || name == "ksh" || name == "ash" ||
           name == "zsh";
  }
  return true;
}

}  // namespace

bool is_launch(const Run& run) {
  if (run.around.is_in_substitution || run.words.empty()) return false;
  const Launch& launch = run.launch;
  return launch.launcher != Launcher::none || launch.starts_processes || is_python(launch.program);
}

bool is_training(const Run& run) {
  const Launch& launch = run.launch;
  if (!launch.starts_processes && !is_python(launch.program) && launch.launcher == Launcher::none)
    return false;
  for (std::size_t i = launch.program_at; i < run.words.size(); ++i) {
    const std::string& word = run.words[i].value.text;
    if (word.starts_with('-')) continue;
    if (word.ends_with(".py") || i == launch.program_at) {
      if (names_training(word)) return true;
      if (word.ends_with(".py")) return launch.starts_processes && optimizes(run);
    }
    const bool is_module = i > launch.program_at && run.words[i - 1].value.text == "-m";
    if (is_module && !launch.starts_processes) return names_training(word);
  }
  return launch.starts_processes && optimizes(run);
}

Subject subject_of(std::string_view text, Site site, std::string file_name) {
  Subject subject;
  subject.text = text;
  subject.file_name = std::move(file_name);
  subject.is_shell = is_shell_script(text);
  if (subject.is_shell) subject.script = shell::parse(text);
  subject.header = read_header(text);
  subject.job = job_of(subject.header);
  subject.runs = runs_of(subject.script, text);
  subject.site = std::move(site);
  subject.plain = blanked(text, subject.script);
  return subject;
}

std::vector<const Run*> Subject::launches() const {
  std::vector<const Run*> found;
  for (const Run& run : runs.runs)
    if (is_launch(run) && !run.runs_script) found.push_back(&run);
  return found;
}

bool Subject::runs_command(std::string_view name) const {
  return std::any_of(runs.runs.begin(), runs.runs.end(), [name](const Run& run) {
    return base_name(run.name()) == name;
  });
}

bool Subject::says(std::string_view word) const {
  return plain.find(in_lower_case(word)) != std::string::npos;
}

Span Subject::place_of(std::string_view what, Span span) const {
  if (what.empty()) return span;
  const std::string_view inside = text.substr(span.begin, span.end - span.begin);
  if (const std::size_t at = inside.find(what); at != std::string_view::npos)
    return {span.begin + at, span.begin + at + what.size()};
  const std::size_t at = plain.find(in_lower_case(what));
  return at == std::string::npos ? span : Span{at, at + what.size()};
}

}  // namespace dts::lint
