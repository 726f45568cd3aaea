// SPDX-License-Identifier: Apache-2.0
#include "core/script/template/shell_output.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <cctype>

namespace dts::script {
namespace {

bool is_name_byte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool ends_word(char c) {
  return std::string_view(" \t\n;|&<>()").find(c) != std::string_view::npos;
}

}  // namespace

Result<void> ShellOutput::literal(std::string_view text) {
  if (text.find("#SBATCH") != std::string_view::npos)
    return fail(Errc::invalid,
                "an #SBATCH line of a template is not what is submitted",
                "give the option to dtsubmit, or `--slurm KEY=VALUE`");
  read(text);
  return {};
}

Result<void> ShellOutput::value(std::string_view text) {
  if (!is_printable(text)) return fail(Errc::invalid, "the value contains a control byte");
  if (place_ == Place::comment) {
    text_ += text;
    return {};
  }
  if (std::string where = unsafe_place(); !where.empty())
    return fail(Errc::invalid,
                "a value cannot stand " + where,
                "it is quoted already: write it as a word of its own, or assign it to a variable");
  const std::string word = shell_quote(text);
  text_ += word;
  line_ += word;
  return {};
}

Result<void> ShellOutput::raw(std::string_view /*text*/) {
  return fail(Errc::invalid, "would be inserted without quotes", "write it with two braces");
}

Result<void> ShellOutput::finished(std::string_view text) {
  if (std::string where = unsafe_place(); place_ != Place::plain || !where.empty())
    return fail(Errc::invalid, "lines of the script cannot stand " + where);
  read(text);
  return {};
}

void ShellOutput::read(std::string_view text) {
  for (const char c : text) {
    text_ += c;
    read(c);
  }
}

void ShellOutput::read(char c) {
  if (escaped_) {
    escaped_ = false;
    if (place_ == Place::plain) line_ += 'x';  // an escaped byte of any kind is part of a word
    return;
  }
  switch (place_) {
    case Place::plain:
      return read_plain(c);
    case Place::single_quotes:
      if (c == '\'') place_ = Place::plain;
      return;
    case Place::double_quotes:
      escaped_ = c == '\\';
      if (c == '"') place_ = Place::plain;
      return;
    case Place::dollar_quotes:
      escaped_ = c == '\\';
      if (c == '\'') place_ = Place::plain;
      return;
    case Place::backticks:
      escaped_ = c == '\\';
      if (c == '`') place_ = Place::plain;
      return;
    case Place::comment:
      if (c == '\n') {
        place_ = Place::plain;
        read_plain(c);
      }
      return;
    case Place::here_word:
      return read_here_word(c);
    case Place::here_document:
      return read_here_document(c);
  }
}

bool ShellOutput::begins_word() const {
  return line_.empty() || (ends_word(line_.back()) && line_.back() != '<' && line_.back() != '>');
}

void ShellOutput::read_plain(char c) {
  const char before = line_.empty() ? '\n' : line_.back();
  if (c == '\n') return end_line();
  if (c == '<' && before == '<' && parentheses_ == 0) {
    place_ = Place::here_word;
    documents_.emplace_back();
    line_ += c;
    return;
  }
  if (c == '#' && begins_word() && braces_ == 0 && parentheses_ == 0) {
    place_ = Place::comment;
    return;
  }
  if (c == '\\') {
    escaped_ = true;
    return;
  }
  if (c == '\'') place_ = before == '$' ? Place::dollar_quotes : Place::single_quotes;
  if (c == '"') place_ = Place::double_quotes;
  if (c == '`') place_ = Place::backticks;
  count_brackets(c, before);
  line_ += c;
}

void ShellOutput::count_brackets(char c, char before) {
  if (c == '{' && (before == '$' || braces_ > 0)) ++braces_;
  if (c == '}' && braces_ > 0) --braces_;
  if (c == '(' && (before == '(' || parentheses_ > 0)) parentheses_ += parentheses_ == 0 ? 2 : 1;
  if (c == ')' && parentheses_ > 0) --parentheses_;
  if (c == '[' && is_name_byte(before)) subscript_ = true;
  if (c == ']') subscript_ = false;
}

void ShellOutput::end_line() {
  if (!documents_.empty()) place_ = Place::here_document;
  line_.clear();
}

// The word after <<; its quotes are not part of it.
void ShellOutput::read_here_word(char c) {
  HereDocument& document = documents_.back();
  const bool is_first = line_.back() == '<';
  if (is_first && c == '<') {  // <<< takes a string, not a document
    documents_.pop_back();
    place_ = Place::plain;
    line_ += ' ';
    return;
  }
  if (document.quote == 0 && ends_word(c) && !(document.end.empty() && (c == ' ' || c == '\t'))) {
    place_ = Place::plain;
    line_ += 'x';
    return read_plain(c);
  }
  line_ += 'x';
  if (is_first && c == '-')
    document.strips_tabs = true;
  else if (document.quote != 0 && c == document.quote)
    document.quote = 0;
  else if (document.quote == 0 && (c == '\'' || c == '"'))
    document.quote = c;
  else if (document.quote != 0 || (c != '\\' && c != ' ' && c != '\t'))
    document.end += c;
}

void ShellOutput::read_here_document(char c) {
  if (c != '\n') {
    line_ += c;
    return;
  }
  std::string_view line = line_;
  if (documents_.front().strips_tabs)
    line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
  if (line == documents_.front().end) documents_.erase(documents_.begin());
  if (documents_.empty()) place_ = Place::plain;
  line_.clear();
}

std::string ShellOutput::unsafe_place() const {
  if (escaped_) return "behind a backslash";
  switch (place_) {
    case Place::single_quotes:
    case Place::double_quotes:
    case Place::dollar_quotes:
      return "inside quotes";
    case Place::backticks:
      return "inside backticks";
    case Place::here_word:
    case Place::here_document:
      return "in a here-document";
    case Place::comment:
      return "in a comment";
    case Place::plain:
      break;
  }
  if (braces_ > 0) return "inside ${...}";
  if (parentheses_ > 0) return "in arithmetic";
  if (subscript_) return "in a subscript";
  if (!line_.empty() && line_.back() == '$') return "behind a `$`";
  return {};
}

}  // namespace dts::script
