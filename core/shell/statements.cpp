// SPDX-License-Identifier: Apache-2.0
// Lists, pipelines and simple commands.
#include "core/shell/reader.hpp"

#include <algorithm>
#include <iterator>

namespace dts::shell {
namespace {

bool is_literal(const Word& word, std::string_view text) {
  return word.pieces.size() == 1 && word.pieces[0].kind == Piece::Kind::literal &&
         word.pieces[0].text == text;
}

// Commands whose arguments can be assignments, arrays included.
bool declares(const Word& word) {
  constexpr std::string_view k_declaring[] = {"export", "declare", "local", "readonly", "typeset"};
  return std::any_of(std::begin(k_declaring), std::end(k_declaring), [&](std::string_view name) {
    return is_literal(word, name);
  });
}

}  // namespace

bool Reader::at_end_of_statements() const {
  constexpr std::string_view k_closing[] = {
      "then", "elif", "else", "fi", "do", "done", "esac", "}"};
  return done() || peek() == ')' || next_is(";;") || next_is(";&") ||
         std::any_of(std::begin(k_closing), std::end(k_closing), [this](std::string_view word) {
           return sees_keyword(word);
         });
}

Statements Reader::statements() {
  Statements all;
  const Nesting nesting(*this);
  if (!nesting.is_allowed()) return all;
  for (skip_newlines(); !at_end_of_statements(); skip_newlines()) {
    const std::size_t begin = at_;
    Statement one = statement();
    if (at_ == begin) {
      ++at_;
      complain({begin, at_}, "`" + std::string(1, text_[begin]) + "` is not expected here");
      continue;
    }
    all.push_back(std::move(one));
  }
  return all;
}

Statement Reader::statement() {
  Statement all;
  all.span.begin = at_;
  all.pipelines.push_back(pipeline());
  while (next_is("&&") || next_is("||")) {
    all.joints.emplace_back(text_.substr(at_, 2));
    at_ += 2;
    skip_newlines();
    all.pipelines.push_back(pipeline());
  }
  all.span.end = all.pipelines.back().span.end;
  if (peek() == '&' && peek(1) != '>' && peek(1) != '&') {
    all.background = true;
    ++at_;
  } else if (peek() == ';' && peek(1) != ';' && peek(1) != '&') {
    ++at_;
  }
  return all;
}

Pipeline Reader::pipeline() {
  Pipeline all;
  skip_blanks();
  all.span.begin = at_;
  while (true) {
    if (take_keyword("!")) {
      all.negated = !all.negated;
    } else if (take_keyword("time")) {
      skip_blanks();
      (void)take_keyword("-p");  // its only option
    } else {
      break;
    }
    skip_blanks();
  }
  all.commands.push_back(command());
  while (peek() == '|' && peek(1) != '|') {
    at_ += peek(1) == '&' ? 2 : 1;
    skip_newlines();
    all.commands.push_back(command());
  }
  all.span.end = all.commands.back().span.end;
  return all;
}

Command Reader::command() {
  Command compound;
  compound.span = {at_, at_};
  const Nesting nesting(*this);
  if (!nesting.is_allowed()) return compound;
  if (!read_compound(compound)) return simple_command();
  if (compound.kind != Command::Kind::function) redirections(compound);
  compound.span.end = at_;
  skip_blanks();
  return compound;
}

bool Reader::at_end_of_command() const {
  if (done()) return true;
  const char c = peek();
  if (c == '&') return peek(1) != '>';
  return c == '\n' || c == ';' || c == '|' || c == ')';
}

bool Reader::read_argument(Command& command) {
  if (at_redirection()) {
    command.redirections.push_back(redirection());
    return true;
  }
  const bool can_assign = command.words.empty() || declares(command.words.front());
  // bash reads let A=(1+2) and eval A=(1 2) as it reads an array.
  const bool only_array = !can_assign && (is_literal(command.words.front(), "let") ||
                                          is_literal(command.words.front(), "eval"));
  const std::size_t length = can_assign || only_array ? assignment_length() : 0;
  if (length > 0 && (can_assign || peek(length) == '(')) {
    command.assignments.push_back(assignment());
    return true;
  }
  const std::size_t begin = at_;
  Word one = word(WordEnd::operators);
  if (at_ == begin) return false;
  command.words.push_back(std::move(one));
  return true;
}

Command Reader::simple_command() {
  Command command;
  command.span = {at_, at_};
  while (true) {
    skip_blanks();
    if (at_end_of_command()) break;
    if (peek() == '(') {
      if (command.words.size() == 1 && command.assignments.empty() && read_body_of_name(command))
        return command;
      complain({at_, at_ + 1}, "`(` is not expected here");
      ++at_;
      continue;
    }
    if (!read_argument(command)) break;
    command.span.end = at_;
  }
  return command;
}

}  // namespace dts::shell
