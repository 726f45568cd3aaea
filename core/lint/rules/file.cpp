// SPDX-License-Identifier: Apache-2.0
// The file as a whole: what sbatch checks before reading it (src/sbatch/sbatch.c), and its syntax.
#include "core/base/text/text.hpp"
#include "core/lint/lint.hpp"
#include "core/lint/rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace dts::lint {
namespace {

Span first_bytes(std::string_view text) {
  return {0, std::min(text.find('\n'), text.size())};
}

void check_no_shebang(const Subject& subject, Report& report) {
  // Files without #SBATCH lines may be included by others.
  if (subject.text.starts_with("#!") || !subject.header.has_lines) return;
  report.add(first_bytes(subject.text),
             "sbatch refuses a script whose first line does not begin with #!",
             "",
             {{{0, 0}, "#!/bin/bash\n"}});
}

void check_dos_line_ends(const Subject& subject, Report& report) {
  const std::size_t first = subject.text.find("\r\n");
  if (first == std::string_view::npos) return;
  Finding& finding = report.add({first, first + 1},
                                "sbatch refuses a script whose lines end in \\r\\n, as on Windows");
  for (std::size_t at = first; at != std::string_view::npos; at = subject.text.find("\r\n", at + 1))
    finding.edits.push_back({{at, at + 1}, ""});
}

void check_nul_byte(const Subject& subject, Report& report) {
  const std::size_t at = subject.text.find('\0');
  if (at != std::string_view::npos)
    report.add({at, at + 1}, "Slurm refuses a script with a NUL byte");
}

void check_empty_script(const Subject& subject, Report& report) {
  if (subject.text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos)
    report.add({0, 0}, "sbatch refuses a script with nothing in it");
}

void check_script_too_large(const Subject& subject, Report& report) {
  if (subject.text.size() > k_largest_script)
    report.add({0, 0},
               fmt::format("Slurm refuses a script of more than {} MiB", k_largest_script >> 20));
}

void check_syntax_error(const Subject& subject, Report& report) {
  for (const shell::Problem& problem : subject.script.problems)
    report.add(
        problem.span,
        problem.message,
        problem.message.ends_with("names no file") ? "if it ends a placeholder, fill that in" : "");
}

// A check for rules that only job files can violate.
void nothing_in_scripts(const Subject& /*subject*/, Report& /*report*/) {}

// Finds `\\ ` at the end of a line or before a comment: a word that is a blank.
class CutLines {
 public:
  CutLines(const Subject& subject, Report& report) : text_(subject.text), report_(report) {}

  void statements(const shell::Statements& all) {
    for (const shell::Statement& one : all)
      for (const shell::Pipeline& pipeline : one.pipelines)
        for (const shell::Command& part : pipeline.commands) command(part);
  }

 private:
  void command(const shell::Command& one) {
    for (const shell::Word& word : one.words) see(word);
    if (one.kind == shell::Command::Kind::simple && !one.words.empty()) {
      see_comment_behind(one);
      see_option(one);
    }
    for (const shell::Assignment& part : one.assignments)
      for (const shell::Word& element : part.elements) see(element);
    for (const auto* lists : {&one.conditions, &one.bodies})
      for (const shell::Statements& all : *lists) statements(all);
  }

  // Looks no further than the next byte that is no blank: a line may have many words.
  void see(const shell::Word& word) {
    const std::size_t at = word.span.begin;
    const std::string_view rest = text_.substr(at);
    if (!rest.starts_with("\\ ") && !rest.starts_with("\\\t")) return;
    const std::string_view behind =
        rest.substr(std::min(rest.find_first_not_of(" \t\r", 1), rest.size()));
    if (behind.empty() || behind.starts_with('\n'))
      report_.add({at, at + 1}, "blanks after this backslash: it does not continue the line");
    else if (behind.starts_with('#'))
      report_.add({at, at + 1}, "a comment after this backslash: it does not continue the line");
  }

  // `\` at the end of a line, a line with a comment, and a line that is indented as if the command
  // went on.
  void see_comment_behind(const shell::Command& one) {
    const std::size_t begin = one.words.front().span.begin;
    std::size_t at = one.words.back().span.end;
    for (const shell::Redirection& part : one.redirections) at = std::max(at, part.span.end);
    bool is_continued = false;
    for (at = past_blanks(at); text_.substr(at).starts_with("\\\n"); at = past_blanks(at + 2))
      is_continued = true;
    if (!is_continued || !text_.substr(at).starts_with('#')) return;
    std::size_t next = at;
    while (text_.substr(next).starts_with('#'))
      next = past_blanks(std::min(text_.find('\n', next), text_.size() - 1) + 1);
    const std::string_view rest = text_.substr(std::min(next, text_.size()));
    if (rest.empty() || rest[0] == '\n' || indent_of(next) <= indent_of(begin)) return;
    if (ends_construct(rest)) return;
    report_.add({at, at + 1},
                "a comment in a continued command: the command ends here, and the next line is one "
                "of its own",
                "move the comment in front of the command");
  }

  // A line that begins with an option of the command before it.
  void see_option(const shell::Command& one) {
    const std::size_t at = one.words.front().span.begin;
    const std::string_view rest = text_.substr(at);
    const std::size_t name = rest.starts_with("--") ? 2 : 1;
    const bool is_option = rest.starts_with('-') && rest.size() > name &&
                           std::isalpha(static_cast<unsigned char>(rest[name])) != 0;
    const std::size_t line = text_.rfind('\n', at);
    if (!is_option || line == std::string_view::npos || past_blanks(line + 1) != at) return;
    const std::string_view last = line_before(line);
    // Of several such lines, the first; what cuts a line with a backslash is reported there.
    const bool is_next = options_end_ > 0 && past_blanks(options_end_) == line;
    options_end_ = one.words.back().span.end;
    if (is_next || last.ends_with('\\')) return;
    report_.add(one.words.front().span,
                "a line that begins with an option: no backslash continues the command before it",
                "end the line before with a backslash, with no blank line or comment in between");
  }

  // The last line that ends before the line break at `end`, without those of comments.
  [[nodiscard]] std::string_view line_before(std::size_t end) const {
    while (true) {
      const std::size_t before = text_.substr(0, end).rfind('\n');
      const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
      const std::string_view line = trim(text_.substr(begin, end - begin));
      if (!line.starts_with('#') || begin == 0) return line;
      end = begin - 1;
    }
  }

  // The command may end here: what follows ends the construct around it.
  static bool ends_construct(std::string_view rest) {
    constexpr std::string_view k_words[] = {
        "}", "fi", "done", "else", "elif", "esac", "then", "do"};
    const std::string_view word = rest.substr(0, rest.find_first_of(" \t\n;&|<>)#"));
    return rest[0] == ')' || rest[0] == ';' || is_one_of(k_words, word);
  }

  [[nodiscard]] std::size_t past_blanks(std::size_t at) const {
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    return at;
  }

  // Columns of blanks at the beginning of the line with this byte.
  [[nodiscard]] std::size_t indent_of(std::size_t at) const {
    const std::size_t line = text_.rfind('\n', at == 0 ? 0 : at - 1);
    const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
    std::size_t columns = 0;
    for (const char c : text_.substr(begin, past_blanks(begin) - begin))
      columns = c == '\t' ? (columns / k_tab + 1) * k_tab : columns + 1;
    return columns;
  }

  static constexpr std::size_t k_tab = 8;

  std::size_t options_end_ = 0;  // of the last command that begins with an option
  std::string_view text_;
  Report& report_;
};

void check_line_cut_short(const Subject& subject, Report& report) {
  CutLines(subject, report).statements(subject.script.statements);
}

}  // namespace

std::vector<Rule> file_rules() {
  return {
      {.id = "no-shebang",
       .severity = Severity::error,
       .title = "the first line does not name an interpreter",
       .reason = "sbatch takes a file for a batch script only if its first line begins with #!.",
       .fix = "begin with #!/bin/bash",
       .check = check_no_shebang,
       .can_fix = true},
      {.id = "dos-line-ends",
       .severity = Severity::error,
       .title = "lines end in \\r\\n",
       .reason = "sbatch refuses a script with Windows line ends.",
       .fix = "convert the file: sed -i 's/\\r$//' FILE",
       .check = check_dos_line_ends,
       .can_fix = true},
      {.id = "nul-byte",
       .severity = Severity::error,
       .title = "there is a NUL byte in the file",
       .reason = "Slurm's controller does not accept a script with a NUL byte.",
       .fix = "remove it; the file may not be a script at all",
       .check = check_nul_byte},
      {.id = "empty-script",
       .severity = Severity::error,
       .title = "the file is empty",
       .reason = "sbatch refuses a script that is empty or only has blanks.",
       .fix = "write the commands of the job into it",
       .check = check_empty_script},
      {.id = "script-too-large",
       .severity = Severity::error,
       .title = "the file is larger than Slurm accepts",
       .reason = "The limit is 4 MiB unless the site sets max_script_size.",
       .fix = "keep data in files of their own",
       .check = check_script_too_large},
      {.id = "syntax-error",
       .severity = Severity::error,
       .title = "the script cannot be read by bash",
       .reason = "bash parses a script while it runs: the job starts, and fails at this line.",
       .fix = "`bash -n FILE` says more",
       .check = check_syntax_error,
       .reads_lines = true},
      {.id = "line-cut-short",
       .severity = Severity::error,
       .title =
           "a backslash that is missing or does not end its line, or a comment that ends a command",
       .reason = "Only a backslash right before the line break continues a command. Before a "
                 "blank, it quotes that blank: the command ends with its line, and the next lines "
                 "are commands of their own. So are those behind a line that is a comment, and "
                 "lines of options behind one without a backslash. In an array, the blank and the "
                 "words of the comment become elements.",
       .fix = "add the backslash, or remove what follows it, and move the comment in front of the "
              "command; in an array, a comment may also follow an element if there is no backslash",
       .check = check_line_cut_short,
       .reads_lines = true},
      {.id = "job-file",
       .severity = Severity::error,
       .title = "the job file is refused by dtsubmit",
       .reason = "A key is unknown, a value cannot be read, or values contradict each other; "
                 "`dtsubmit submit JOB.toml` prints the same messages.",
       .fix = "see dtsubmit-jobfile(5)",
       .check = nothing_in_scripts},
  };
}

}  // namespace dts::lint
