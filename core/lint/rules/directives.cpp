// SPDX-License-Identifier: Apache-2.0
// #SBATCH lines that sbatch ignores, or reads in another way than they were meant.
#include "core/base/text/text.hpp"
#include "core/lint/rules/facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::lint {
namespace {

constexpr std::string_view k_sbatch = "#SBATCH";

bool is_directive(std::string_view line) {
  return line.starts_with(k_sbatch) && line.size() > k_sbatch.size() &&
         (line[k_sbatch.size()] == ' ' || line[k_sbatch.size()] == '\t');
}

void check_directive_ignored(const Subject& subject, Report& report) {
  std::optional<Span> first;
  std::size_t number = 0;
  for (const Span& comment : subject.script.comments) {
    const std::string_view line = subject.text.substr(comment.begin, comment.end - comment.begin);
    const bool is_first_column = comment.begin == 0 || subject.text[comment.begin - 1] == '\n';
    if (comment.begin < subject.header.end || !is_first_column || !is_directive(line)) continue;
    if (!first) first = comment;
    ++number;
  }
  if (!first) return;
  report.add(*first,
             number == 1 ? std::string("sbatch ignores this line: it stands behind a command")
                         : fmt::format("sbatch ignores this line and {} more: they stand behind a "
                                       "command",
                                       number - 1));
}

// True for a line that is nearly a directive: "# SBATCH --x", "#sbatch -x", " #SBATCH ...".
bool is_nearly_directive(std::string_view line, bool has_directives) {
  const std::string_view trimmed = trim(line);
  if (trimmed.size() < 3 || trimmed[0] != '#' || trimmed.starts_with("##")) return false;
  const bool has_gap = trimmed[1] == ' ' || trimmed[1] == '\t';
  const std::string_view word = trim(trimmed.substr(1));
  const std::size_t end = word.find_first_of(" \t");
  if (end == std::string_view::npos || trim(word.substr(end)).substr(0, 1) != "-") return false;
  const std::string name(word.substr(0, end));
  if (name == "SBATCH") return !has_gap ? line[0] != '#' : !has_directives;
  // Comments may mention options of other commands.
  if (has_gap || name == "SLURM") return false;
  if (name.ends_with("SBATCH")) return false;  // #xSBATCH turns it off
  return in_lower_case(name) == "sbatch" || edit_distance(name, "SBATCH") == 1;
}

void check_directive_misspelt(const Subject& subject, Report& report) {
  std::size_t begin = 0;
  while (begin < subject.header.end) {
    const std::size_t end = std::min(subject.text.find('\n', begin), subject.header.end);
    const std::string_view line = subject.text.substr(begin, end - begin);
    if (is_nearly_directive(line, !subject.header.directives.empty()))
      report.add({begin + line.find('#'), end},
                 "sbatch ignores this line: it must begin with #SBATCH, in capitals");
    begin = end + 1;
  }
  const std::string_view next = line_at(subject.text, subject.header.end);
  if (subject.header.end < subject.text.size() && next.starts_with("!#SBATCH"))
    report.add({subject.header.end, subject.header.end + 8},
               "this is a command that does not exist, and ends the #SBATCH lines");
}

void check_directive_variable(const Subject& subject, Report& report) {
  for (const Directive& one : subject.header.directives) {
    const std::size_t at = one.value.find_first_of("$`");
    if (at == std::string::npos || at + 1 >= one.value.size()) continue;
    if (one.name == "comment" || one.name == "wrap") continue;
    report.add(subject.place_of(one.value.substr(at, 1), one.value_span),
               fmt::format("Slurm expands no variables in #SBATCH lines: --{} is `{}`, as written",
                           one.name,
                           one.value));
  }
}

void check_directive_tilde(const Subject& subject, Report& report) {
  for (const Directive& one : subject.header.directives)
    if (one.value.starts_with("~/") || one.value == "~")
      report.add(
          one.value_span,
          fmt::format("Slurm does not expand `~`: --{} means a folder of that name", one.name));
}

void check_directive_equals(const Subject& subject, Report& report) {
  for (const Directive& one : subject.header.directives) {
    if (one.is_letter && one.value.starts_with('=') && one.value.size() > 1) {
      Finding& finding = report.add(
          one.span,
          fmt::format("the value is `{}`: an option of one letter takes no `=`", one.value));
      const std::string_view typed =
          subject.text.substr(one.span.begin, one.span.end - one.span.begin);
      if (const std::size_t at = typed.find('='); at == 2)
        finding.edits.push_back({{one.span.begin + at, one.span.begin + at + 1}, " "});
    } else if (one.value == "=" || (one.value.starts_with('=') && !one.is_letter)) {
      report.add(
          {one.span.begin, std::max(one.span.end, one.value_span.end)},
          fmt::format(
              "the value of --{} is `{}`: no blank may stand beside `=`", one.name, one.value));
    }
  }
}

void check_directive_quote(const Subject& subject, Report& report) {
  for (const HeaderProblem& problem : subject.header.problems)
    if (problem.kind == HeaderProblem::Kind::unclosed_quote)
      report.add(problem.span,
                 fmt::format("sbatch refuses the script: the quote `{}` is not closed on its line",
                             problem.word));
}

bool follows_equals(const Subject& subject, const HeaderProblem& problem) {
  return std::any_of(subject.header.directives.begin(),
                     subject.header.directives.end(),
                     [&](const Directive& one) {
                       return one.value == "=" && one.value_span.end < problem.span.begin &&
                              line_at(subject.text, one.span.begin).data() ==
                                  line_at(subject.text, problem.span.begin).data();
                     });
}

void check_directive_stray_word(const Subject& subject, Report& report) {
  for (const HeaderProblem& problem : subject.header.problems) {
    const bool is_colon = problem.kind == HeaderProblem::Kind::colon;
    if (!is_colon && problem.kind != HeaderProblem::Kind::stray_word) continue;
    if (is_placeholder(line_at(subject.text, problem.span.begin))) continue;
    if (follows_equals(subject, problem)) continue;
    report.add(problem.span,
               fmt::format("sbatch refuses the script: `{}` is neither an option nor the value of "
                           "one",
                           problem.word));
    return;  // sbatch stops reading here
  }
}

// "your-name" can be the name of a file, but not of an account.
bool names_site(const std::string& option) {
  for (const char* one : {"account", "partition", "qos", "mail-user", "reservation", "constraint"})
    if (option == one) return true;
  return false;
}

void check_placeholder_left(const Subject& subject, Report& report) {
  for (const Directive& one : subject.header.directives) {
    if (one.name == "comment") continue;  // any text is one
    if (!names_site(one.name) && one.value.find_first_of("<{") == std::string::npos) continue;
    if (is_placeholder(one.value, one.name) ||
        (one.value.starts_with('<') && is_placeholder(line_at(subject.text, one.value_span.begin))))
      report.add({one.span.begin, std::max(one.span.end, one.value_span.end)},
                 fmt::format("the value of --{} is still to be filled in", one.name));
  }
  for (const HeaderProblem& problem : subject.header.problems)
    if (problem.kind == HeaderProblem::Kind::stray_word && problem.word.starts_with('<') &&
        is_placeholder(line_at(subject.text, problem.span.begin)))
      report.add(problem.span, "options are still to be filled in");
}

}  // namespace

std::vector<Rule> directive_rules() {
  return {
      {.id = "directive-ignored",
       .severity = Severity::warning,
       .title = "#SBATCH lines after the first command have no effect",
       .reason = "sbatch stops reading options at the first line that is neither blank nor a "
                 "comment.",
       .fix = "move it above the first command",
       .check = check_directive_ignored},
      {.id = "directive-misspelt",
       .severity = Severity::warning,
       .title = "a comment looks like an #SBATCH line, but is not one",
       .reason = "Only a line that begins with #SBATCH, in capitals and in the first column, holds "
                 "options; all others are comments.",
       .fix = "write #SBATCH at the beginning of the line, or ##SBATCH to turn it off",
       .check = check_directive_misspelt},
      {.id = "directive-variable",
       .severity = Severity::error,
       .title = "a variable in an #SBATCH line is not expanded",
       .reason = "sbatch reads these lines itself, without a shell. In file names, Slurm replaces "
                 "its own patterns: %x (job name), %j (job id), %u (user) and the like.",
       .fix = "write the value, or give the option on sbatch's command line",
       .check = check_directive_variable},
      {.id = "directive-tilde",
       .severity = Severity::error,
       .title = "`~` in an #SBATCH line is not your home directory",
       .reason = "A shell expands ~, and no shell reads these lines.",
       .fix = "write the whole path",
       .check = check_directive_tilde},
      {.id = "directive-equals",
       .severity = Severity::error,
       .title = "`=` becomes part of an option's value",
       .reason = "-N=2 asks for `=2` nodes, and `--nodes = 2` for `=` nodes: getopt(3) takes the "
                 "rest of the word, or the next word, as the value.",
       .fix = "write --name=value, --name value or -n value",
       .check = check_directive_equals,
       .can_fix = true},
      {.id = "directive-quote",
       .severity = Severity::error,
       .title = "a quote in an #SBATCH line is not closed",
       .reason =
           "sbatch reads each line by itself and ends with an error at an open quote, also at "
           "an apostrophe.",
       .fix = "close it, or write \\' for an apostrophe",
       .check = check_directive_quote},
      {.id = "directive-stray-word",
       .severity = Severity::error,
       .title = "a word in an #SBATCH line belongs to no option",
       .reason = "sbatch reads all #SBATCH lines as one command line and refuses any word that is "
                 "not an option. "
                 "A comment needs a # before it, and a value with blanks needs quotes.",
       .fix = "put # before a comment, and quotes around a value with blanks",
       .check = check_directive_stray_word},
      {.id = "placeholder-left",
       .severity = Severity::note,
       .title = "an option still has a placeholder for its value",
       .reason = "The script is a template; Slurm refuses such an account, partition or address.",
       .fix = "fill it in, or remove the line",
       .check = check_placeholder_left},
  };
}

}  // namespace dts::lint
