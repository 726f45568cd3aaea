// SPDX-License-Identifier: Apache-2.0
// Words and quotes: bash(1), QUOTING.
#include "core/shell/reader.hpp"

#include <algorithm>

namespace dts::shell {

bool Reader::ends_word(WordEnd end) const {
  if (done()) return true;
  const char c = peek();
  if (is_blank_char(c) || c == '\n') return true;
  if (end == WordEnd::blank) return false;
  constexpr std::string_view k_operators = ";&|<>()";
  return k_operators.find(c) != std::string_view::npos;
}

Word Reader::word(WordEnd end) {
  Word one;
  one.span = {at_, at_};
  const Nesting nesting(*this);
  if (!nesting.is_allowed()) return one;
  while (read_piece(one, end)) one.span.end = at_;
  one.span.end = at_;
  return one;
}

bool Reader::read_piece(Word& word, WordEnd end) {
  const char c = peek();
  if (end == WordEnd::operators && (next_is("<(") || next_is(">("))) {
    read_substitution(word, Piece::Kind::process, false);
    return true;
  }
  if (ends_word(end)) return false;
  constexpr std::string_view k_pattern_signs = "?*+@!";
  if (k_pattern_signs.find(c) != std::string_view::npos && peek(1) == '(') {
    read_pattern(word);
    return true;
  }
  switch (c) {
    case '\\':
      read_backslash(word, false);
      break;
    case '\'':
      read_single_quotes(word);
      break;
    case '"':
      read_double_quotes(word);
      break;
    case '`':
      read_backquotes(word, false);
      break;
    case '$':
      read_dollar(word, false);
      break;
    default:
      read_plain(word);
  }
  return true;
}

// What means itself, at least one character.
void Reader::read_plain(Word& word) {
  const std::size_t end = std::max(at_ + 1, end_of_run(" \t\r\n;&|<>()\\'\"`$?*+@!"));
  add_literal(word, {at_, end}, text_.substr(at_, end - at_), false);
  at_ = end;
}

void Reader::read_backslash(Word& word, bool in_quotes) {
  if (peek(1) == '\n') {
    at_ += 2;
    return;
  }
  constexpr std::string_view k_escaped_in_quotes = "$`\"\\";
  const bool escapes =
      at_ + 1 < end_ && (!in_quotes || k_escaped_in_quotes.find(peek(1)) != std::string_view::npos);
  const std::size_t length = escapes ? 2 : 1;
  add_literal(word, {at_, at_ + length}, text_.substr(at_ + length - 1, 1), true);
  at_ += length;
}

void Reader::read_single_quotes(Word& word) {
  const std::size_t begin = at_;
  ++at_;
  const std::size_t close = at_ = end_of_run("'");
  if (!take("'")) complain({begin, begin + 1}, "the quote `'` is not closed");
  add_literal(word, {begin, at_}, text_.substr(begin + 1, close - begin - 1), true);
}

// $'...', in which a backslash escapes.
void Reader::read_ansi_quotes(Word& word) {
  const std::size_t begin = at_;
  at_ += 2;
  std::string text;
  while (!done() && peek() != '\'') {
    if (peek() == '\\' && at_ + 1 < end_) {
      ++at_;
      text += peek() == 'n' ? '\n' : peek() == 't' ? '\t' : peek();
    } else {
      text += peek();
    }
    ++at_;
  }
  if (!take("'")) complain({begin, begin + 2}, "the quote `$'` is not closed");
  add_literal(word, {begin, at_}, text, true);
}

void Reader::read_double_quotes(Word& word) {
  const std::size_t begin = at_;
  add_literal(word, {at_, at_ + 1}, "", true);
  ++at_;
  while (!done() && peek() != '"') {
    const std::size_t run = end_of_run("\"\\`$");
    if (run > at_) {
      add_literal(word, {at_, run}, text_.substr(at_, run - at_), true);
      at_ = run;
    } else if (peek() == '\\') {
      read_backslash(word, true);
    } else if (peek() == '`') {
      read_backquotes(word, true);
    } else {
      read_dollar(word, true);
    }
  }
  if (done()) {
    complain({begin, begin + 1}, "the quote `\"` is not closed");
    return;
  }
  add_literal(word, {at_, at_ + 1}, "", true);
  ++at_;
}

// An extended pattern, @(a|b), as it is.
void Reader::read_pattern(Word& word) {
  const std::size_t begin = at_;
  int open = 0;
  for (++at_; !done() && peek() != '\n'; ++at_) {
    if (peek() == '(') ++open;
    if (peek() == ')' && --open == 0) {
      ++at_;
      break;
    }
  }
  add_literal(word, {begin, at_}, text_.substr(begin, at_ - begin), false);
}

}  // namespace dts::shell
