// SPDX-License-Identifier: Apache-2.0
// Expansions: bash(1), EXPANSION.
#include "core/shell/reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::shell {

void Reader::read_dollar(Word& word, bool quoted) {
  const char next = peek(1);
  if (!quoted && next == '\'') return read_ansi_quotes(word);
  if (!quoted && next == '"') {  // to be translated
    ++at_;
    return read_double_quotes(word);
  }
  if (next == '{') return read_braces(word, quoted);
  if (next == '(' && peek(2) == '(' && read_arithmetic(word, 2, quoted)) return;
  if (next == '[' && read_arithmetic(word, 1, quoted)) return;
  if (next == '(') return read_substitution(word, Piece::Kind::command, quoted);
  std::size_t length = 0;
  if (is_name_begin(next)) {
    while (is_name_char(peek(1 + length))) ++length;
  } else if (next != '\0' &&
             std::string_view("0123456789@*#?-$!").find(next) != std::string_view::npos) {
    length = 1;
  }
  if (length == 0) {
    add_literal(word, {at_, at_ + 1}, "$", quoted);
    ++at_;
    return;
  }
  Piece piece;
  piece.kind = Piece::Kind::parameter;
  piece.span = {at_, at_ + 1 + length};
  piece.text = text_.substr(at_ + 1, length);
  piece.quoted = quoted;
  word.pieces.push_back(std::move(piece));
  at_ += 1 + length;
}

void Reader::read_braces(Word& word, bool quoted) {
  Piece piece;
  piece.kind = Piece::Kind::parameter;
  piece.quoted = quoted;
  const std::size_t begin = at_;
  at_ += 2;
  const Nesting nesting(*this);
  if (!nesting.is_allowed()) return;
  if ((peek() == '#' || peek() == '!') && peek(1) != '}') piece.operation = text_.substr(at_++, 1);
  const std::size_t name = at_;
  while (is_name_char(peek())) ++at_;
  if (at_ == name && !done() && peek() != '}') ++at_;  // ${@}, ${?}
  piece.text = text_.substr(name, at_ - name);
  // The rest: an index, an operator with its word.
  const std::size_t operation = at_;
  Word inside;
  while (!done() && peek() != '}') {
    const char c = peek();
    if (c == '\\') {
      read_backslash(inside, false);
    } else if (c == '\'' && !quoted) {
      read_single_quotes(inside);
    } else if (c == '"') {
      read_double_quotes(inside);
    } else if (c == '`') {
      read_backquotes(inside, quoted);
    } else if (c == '$') {
      read_dollar(inside, quoted);
    } else {
      ++at_;
    }
  }
  piece.operation += text_.substr(operation, at_ - operation);
  if (!take("}")) complain({begin, begin + 2}, "`${` has no `}`");
  piece.span = {begin, at_};
  if (!inside.pieces.empty()) piece.words.push_back(std::move(inside));
  word.pieces.push_back(std::move(piece));
}

void Reader::read_substitution(Word& word, Piece::Kind kind, bool quoted) {
  Piece piece;
  piece.kind = kind;
  piece.quoted = quoted;
  const std::size_t begin = at_;
  at_ += 2;
  piece.commands = statements();
  skip_newlines();
  if (!take(")"))
    complain({begin, begin + 2}, fmt::format("`{}` has no `)`", text_.substr(begin, 2)));
  piece.span = {begin, at_};
  word.pieces.push_back(std::move(piece));
}

void Reader::read_backquotes(Word& word, bool quoted) {
  Piece piece;
  piece.kind = Piece::Kind::command;
  piece.quoted = quoted;
  const std::size_t begin = at_;
  std::size_t close = begin + 1;
  while (close < end_ && text_[close] != '`') close += text_[close] == '\\' ? 2 : 1;
  close = std::min(close, end_);
  // Uses this reader on a shorter text. Characters that a backslash hides there are rare enough to
  // be ignored.
  const std::size_t whole = end_;
  at_ = begin + 1;
  end_ = close;
  piece.commands = statements();
  at_ = end_;
  end_ = whole;
  if (!take("`")) complain({begin, begin + 1}, "the quote ``` is not closed");
  piece.span = {begin, at_};
  word.pieces.push_back(std::move(piece));
}

namespace {

constexpr std::size_t k_longest_expression = 4096;

}  // namespace

// The position of the `))` that closes an expression begun before `from`; npos: there is none, so
// it is no arithmetic expression.
std::size_t Reader::end_of_arithmetic(std::size_t from) const {
  const std::size_t end = std::min(end_, from + k_longest_expression);
  int open = 0;
  for (std::size_t i = from; i < end; ++i) {
    if (text_[i] == '(') ++open;
    if (text_[i] != ')') continue;
    if (open == 0) return i + 1 < end && text_[i + 1] == ')' ? i : std::string_view::npos;
    --open;
  }
  return std::string_view::npos;
}

// The same for the `]` of $[...], the older form of $((...)).
std::size_t Reader::end_of_old_arithmetic(std::size_t from) const {
  const std::size_t end = std::min(end_, from + k_longest_expression);
  int open = 0;
  for (std::size_t i = from; i < end; ++i) {
    if (text_[i] == '[') ++open;
    if (text_[i] == ']' && open-- == 0) return i;
  }
  return std::string_view::npos;
}

bool Reader::read_arithmetic(Word& word, std::size_t brackets, bool quoted) {
  const std::size_t begin = at_;
  const std::size_t inside = begin + 1 + brackets;
  const std::size_t end = brackets == 2 ? end_of_arithmetic(inside) : end_of_old_arithmetic(inside);
  if (end == std::string_view::npos) return false;
  Piece piece;
  piece.kind = Piece::Kind::arithmetic;
  piece.quoted = quoted;
  piece.text = text_.substr(inside, end - inside);
  piece.words.push_back(expanded_text(inside, end, false));
  at_ = end + brackets;
  piece.span = {begin, at_};
  word.pieces.push_back(std::move(piece));
  return true;
}

Word Reader::expanded_text(std::size_t begin, std::size_t end, bool is_literal) {
  Word all;
  all.span = {begin, end};
  const Nesting nesting(*this);
  if (!nesting.is_allowed()) return all;
  if (is_literal) {
    add_literal(all, {begin, end}, text_.substr(begin, end - begin), true);
    return all;
  }
  const std::size_t whole = end_;
  at_ = begin;
  end_ = end;
  while (!done()) {
    const std::size_t run = end_of_run("\\`$");
    if (run > at_) {
      add_literal(all, {at_, run}, text_.substr(at_, run - at_), true);
      at_ = run;
    } else if (peek() == '\\') {
      read_backslash(all, true);
    } else if (peek() == '`') {
      read_backquotes(all, true);
    } else {
      read_dollar(all, true);
    }
  }
  end_ = whole;
  return all;
}

}  // namespace dts::shell
