// SPDX-License-Identifier: Apache-2.0
#include "core/shell/reader.hpp"

#include "core/shell/parse.hpp"

namespace dts::shell {

Script parse(std::string_view text) {
  return Reader(text).read();
}

Nesting::Nesting(Reader& reader) : reader_(reader), is_allowed_(++reader.depth_ <= k_deepest) {
  if (!is_allowed_) reader_.give_up();
}

Nesting::~Nesting() {
  --reader_.depth_;
}

Script Reader::read() {
  while (true) {
    Statements more = statements();
    for (Statement& one : more) script_.statements.push_back(std::move(one));
    if (done()) break;
    // A token that ends a construct which has not begun.
    const std::size_t begin = at_;
    if (!take(";;") && !take(")") && !take("}"))
      while (!done() && is_name_char(peek())) ++at_;
    if (at_ == begin) ++at_;
    const std::size_t end = at_;
    skip_blanks();
    if (peek() == ';' && peek(1) != ';') ++at_;
    complain({begin, end},
             "`" + std::string(text_.substr(begin, end - begin)) + "` ends nothing that has begun");
  }
  return std::move(script_);
}

bool Reader::sees_keyword(std::string_view keyword) const {
  if (!next_is(keyword)) return false;
  if (at_ + keyword.size() >= end_) return true;
  constexpr std::string_view k_ends = " \t\r\n;&|()<>";
  return k_ends.find(text_[at_ + keyword.size()]) != std::string_view::npos;
}

bool Reader::take(std::string_view what) {
  if (!next_is(what)) return false;
  at_ += what.size();
  return true;
}

bool Reader::take_keyword(std::string_view keyword) {
  return sees_keyword(keyword) && take(keyword);
}

void Reader::skip_blanks() {
  while (!done()) {
    if (is_blank_char(peek())) {
      ++at_;
    } else if (next_is("\\\n")) {
      at_ += 2;
    } else if (next_is("\\\r\n")) {
      at_ += 3;
    } else if (peek() == '#') {
      const std::size_t begin = at_;
      at_ = end_of_run("\n");
      script_.comments.push_back({begin, at_});
    } else {
      return;
    }
  }
}

void Reader::skip_newlines() {
  for (skip_blanks(); peek() == '\n'; skip_blanks()) take_newline();
}

void Reader::take_newline() {
  ++at_;
  if (!pending_.empty()) read_here_documents();
}

void Reader::complain(Span span, std::string message) {
  constexpr std::size_t k_most_problems = 100;
  if (script_.problems.size() < k_most_problems)
    script_.problems.push_back({span, std::move(message)});
}

void Reader::give_up() {
  complain({at_, at_}, "nested too deeply to be read");
  at_ = end_;
}

void add_literal(Word& word, Span span, std::string_view text, bool quoted) {
  if (!word.pieces.empty()) {
    Piece& last = word.pieces.back();
    if (last.kind == Piece::Kind::literal && last.quoted == quoted && last.span.end == span.begin) {
      last.text += text;
      last.span.end = span.end;
      return;
    }
  }
  Piece piece;
  piece.span = span;
  piece.text = text;
  piece.quoted = quoted;
  word.pieces.push_back(std::move(piece));
}

}  // namespace dts::shell
