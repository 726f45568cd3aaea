// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/blanks.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/names.hpp"
#include "core/lint/script/header.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr std::size_t k_longest_blank = 80;

bool is_blank_char(char c) {
  return shell::is_name_char(c) || std::string_view(" -./:,*").find(c) != std::string_view::npos;
}

// Nothing else is in the line: bash would refuse the > or take the next line for a file.
bool ends_line(std::string_view text, std::size_t at) {
  at = text.find_first_not_of(" \t", at);
  return at == std::string_view::npos || text[at] == '\n' || text.substr(at).starts_with("\\\n");
}

// "<cache folder>" at `at`; empty: something else.
Span blank_at(std::string_view text, std::size_t at) {
  const std::size_t end = text.find('>', at);
  if (at + 1 >= text.size() || !shell::is_name_begin(text[at + 1]) ||
      end == std::string_view::npos || end - at > k_longest_blank || text[end - 1] == ' ')
    return {};
  const std::string_view inside = text.substr(at + 1, end - at - 1);
  if (!std::all_of(inside.begin(), inside.end(), is_blank_char)) return {};
  const bool joins_word =
      at > 0 && std::string_view("=/:,").find(text[at - 1]) != std::string_view::npos;
  return joins_word || ends_line(text, end + 1) ? Span{at, end + 1} : Span{};
}

// A backslash at the end of a file, without a line break, is nothing.
std::size_t end_of_file(std::string_view text) {
  const std::size_t last = text.find_last_not_of('\\');
  const std::size_t count = text.size() - (last == std::string_view::npos ? 0 : last + 1);
  return text.size() - count % 2;
}

// The tasks of a node in SLURM_TASKS_PER_NODE, "8(x4)": $(echo $SLURM_TASKS_PER_NODE | cut -d '('
// -f 1) or ${SLURM_TASKS_PER_NODE%%(*}.
bool counts_tasks(const shell::Piece& piece, std::string_view text) {
  if (piece.kind == shell::Piece::Kind::parameter)
    return piece.text == "SLURM_TASKS_PER_NODE" &&
           (piece.operation == "%%(*" || piece.operation == "%(*" || piece.operation == "%%\\(*");
  if (piece.kind != shell::Piece::Kind::command) return false;
  std::string code(text.substr(piece.span.begin, piece.span.end - piece.span.begin));
  std::erase_if(
      code, [](char c) { return std::string_view(" \t'\"\\{}`").find(c) != std::string::npos; });
  if (code.starts_with("$(")) code = code.substr(2, code.size() - 3);
  const std::string_view begin = "echo$SLURM_TASKS_PER_NODE|";
  constexpr std::string_view k_takers[] = {
      "cut-d(-f1", "cut-f1-d(", "sed-es/(.*//", "seds/(.*//", "awk-F(print$1"};
  return code.starts_with(begin) && is_one_of(k_takers, code.substr(begin.size()));
}

struct WordEdit {
  Span span;
  std::string instead;  // empty: quotes around it
};

// The variable's value is that of a step where srun has --ntasks-per-node; a number is that of the
// job. Not where the number would become a part of $NAME before it or of > behind it.
std::string instead_of(Span span, std::string_view text, const std::string& tasks) {
  const char before = span.begin == 0 ? ' ' : text[span.begin - 1];
  const char behind = span.end < text.size() ? text[span.end] : ' ';
  const bool is_joined = shell::is_name_char(before) || behind == '<' || behind == '>';
  return parse_number(tasks) && !is_joined ? tasks : "${SLURM_NTASKS_PER_NODE}";
}

std::vector<WordEdit> edits_in(std::string_view text) {
  std::vector<WordEdit> edits;
  const bool has_blanks = text.find('<') != std::string_view::npos;
  std::string tasks;
  if (text.find("SLURM_TASKS_PER_NODE") != std::string_view::npos) {
    const lint::Header header = lint::read_header(text);
    const lint::Directive* option = lint::find_directive(header, "ntasks-per-node");
    if (option != nullptr) tasks = option->value;
  }
  const bool has_tasks = !tasks.empty();
  if (!has_blanks && !has_tasks) return edits;
  const shell::Script script = shell::parse(text);
  each_command(script.statements, [&](const shell::Command& command) {
    for (const shell::Redirection& one : command.redirections)
      if (one.sign == "<" && one.span.begin < text.size() && text[one.span.begin] == '<')
        edits.push_back({blank_at(text, one.span.begin), {}});
  });
  if (has_tasks)
    each_expansion(script.statements, [&](const shell::Piece& piece) {
      if (counts_tasks(piece, text))
        edits.push_back({piece.span, instead_of(piece.span, text, tasks)});
    });
  std::sort(edits.begin(), edits.end(), [](const WordEdit& a, const WordEdit& b) {
    return a.span.begin < b.span.begin;
  });
  return edits;
}

}  // namespace

Rewrite with_plain_words(std::string_view text) {
  Rewrite made(text);
  std::size_t at = 0;
  for (const WordEdit& edit : edits_in(text)) {
    if (edit.span.begin >= edit.span.end || edit.span.begin < at) continue;
    made.keep({at, edit.span.begin});
    if (edit.instead.empty()) made.insert("'");
    if (edit.instead.empty()) made.keep(edit.span);
    made.insert(edit.instead.empty() ? "'" : edit.instead);
    if (!edit.instead.empty())
      for (std::size_t i = edit.span.begin; i < edit.span.end; ++i) made.drop(i);
    at = edit.span.end;
  }
  made.keep({at, std::max(at, end_of_file(text))});
  return made;
}

}  // namespace dts::convert
