// SPDX-License-Identifier: Apache-2.0
// Compound commands: bash(1), Compound Commands and Shell Function Definitions.
#include "core/shell/reader.hpp"

#include <fmt/format.h>

namespace dts::shell {
namespace {

// The text of a word that is only a literal.
std::string literal_of(const Word& word) {
  return word.pieces.size() == 1 ? word.pieces[0].text : "";
}

}  // namespace

void Reader::expect(std::string_view keyword, std::size_t begin, std::string_view opener) {
  skip_newlines();
  if (take_keyword(keyword)) return;
  complain({begin, begin + opener.size()}, fmt::format("`{}` has no `{}`", opener, keyword));
}

bool Reader::read_compound(Command& command) {
  if (next_is("((") && read_arithmetic_command(command)) return true;
  if (take("(")) {
    read_group(command, Command::Kind::subshell, ')');
  } else if (take_keyword("{")) {
    read_group(command, Command::Kind::group, '}');
  } else if (take_keyword("[[")) {
    read_test(command);
  } else if (take_keyword("if")) {
    read_branch(command);
  } else if (take_keyword("while") || take_keyword("until")) {
    read_loop(command);
  } else if (take_keyword("for") || take_keyword("select")) {
    read_each(command);
  } else if (take_keyword("case")) {
    read_choice(command);
  } else if (take_keyword("function")) {
    read_function(command);
  } else {
    return false;
  }
  return true;
}

void Reader::read_group(Command& command, Command::Kind kind, char close) {
  const std::size_t begin = command.span.begin;
  command.kind = kind;
  command.bodies.push_back(statements());
  if (!take(std::string_view(&close, 1)))
    complain({begin, begin + 1}, fmt::format("`{}` has no `{}`", text_[begin], close));
}

void Reader::read_test(Command& command) {
  const std::size_t begin = command.span.begin;
  command.kind = Command::Kind::test;
  for (skip_newlines(); !done(); skip_newlines()) {
    if (take_keyword("]]")) return;
    const std::size_t before = at_;
    command.words.push_back(word(WordEnd::blank));
    if (at_ == before) break;
  }
  complain({begin, begin + 2}, "`[[` has no `]]`");
}

bool Reader::read_arithmetic_command(Command& command) {
  const std::size_t end = end_of_arithmetic(at_ + 2);
  if (end == std::string_view::npos) return false;
  command.kind = Command::Kind::arithmetic;
  command.words.push_back(expanded_text(at_ + 2, end, false));
  at_ = end + 2;
  return true;
}

void Reader::read_branch(Command& command) {
  const std::size_t begin = command.span.begin;
  command.kind = Command::Kind::branch;
  do {
    command.conditions.push_back(statements());
    expect("then", begin, "if");
    command.bodies.push_back(statements());
  } while (take_keyword("elif"));
  if (take_keyword("else")) command.bodies.push_back(statements());
  expect("fi", begin, "if");
}

void Reader::read_do_group(Command& command, std::size_t begin, const char* name) {
  skip_newlines();
  if (take_keyword("{")) {  // bash takes braces as well
    command.bodies.push_back(statements());
    if (!take("}")) complain({begin, begin + 1}, fmt::format("`{}` has no `}}`", name));
    return;
  }
  expect("do", begin, name);
  command.bodies.push_back(statements());
  expect("done", begin, name);
}

void Reader::read_loop(Command& command) {
  const std::size_t begin = command.span.begin;
  command.kind = Command::Kind::loop;
  const char* name = text_[begin] == 'w' ? "while" : "until";
  command.conditions.push_back(statements());
  read_do_group(command, begin, name);
}

void Reader::read_each(Command& command) {
  const std::size_t begin = command.span.begin;
  command.kind = Command::Kind::each;
  skip_blanks();
  if (next_is("((")) {
    Command expression;
    if (read_arithmetic_command(expression)) command.words = std::move(expression.words);
  } else {
    command.name = literal_of(word(WordEnd::operators));
    skip_newlines();
    if (take_keyword("in"))
      for (skip_blanks(); !at_end_of_command(); skip_blanks()) {
        const std::size_t before = at_;
        command.words.push_back(word(WordEnd::operators));
        if (at_ == before) break;
      }
  }
  skip_blanks();
  if (peek() == ';') ++at_;
  read_do_group(command, begin, text_[begin] == 'f' ? "for" : "select");
}

void Reader::read_choice(Command& command) {
  const std::size_t begin = command.span.begin;
  command.kind = Command::Kind::choice;
  skip_blanks();
  command.words.push_back(word(WordEnd::operators));
  expect("in", begin, "case");
  read_choices(command);
  expect("esac", begin, "case");
}

void Reader::read_choices(Command& command) {
  for (skip_newlines(); !done() && !sees_keyword("esac"); skip_newlines()) {
    const std::size_t before = at_;
    take("(");
    Choice choice;
    for (skip_blanks(); !done() && peek() != ')' && peek() != '\n'; skip_blanks()) {
      const std::size_t pattern = at_;
      Word one = word(WordEnd::operators);
      if (at_ > pattern) choice.patterns.push_back(std::move(one));
      if (peek() == '|') ++at_;
      if (at_ == pattern) break;
    }
    if (!take(")")) return;
    command.bodies.push_back(statements());
    for (const std::string_view ending : {";;&", ";;", ";&"})
      if (choice.ending.empty() && take(ending)) choice.ending = ending;
    const bool is_last = choice.ending.empty();
    command.choices.push_back(std::move(choice));
    if (is_last || at_ == before) return;
  }
}

void Reader::read_function(Command& command) {
  skip_blanks();
  command.name = literal_of(word(WordEnd::operators));
  skip_blanks();
  if (take("(")) {
    skip_blanks();
    take(")");
  }
  read_function_body(command);
}

bool Reader::read_body_of_name(Command& command) {
  const std::size_t begin = at_;
  ++at_;
  skip_blanks();
  if (!take(")")) {
    at_ = begin;
    return false;
  }
  command.name = literal_of(command.words.front());
  command.words.clear();
  read_function_body(command);
  return true;
}

void Reader::read_function_body(Command& command) {
  command.kind = Command::Kind::function;
  skip_newlines();
  Statement body;
  body.span.begin = at_;
  Pipeline whole;
  whole.commands.push_back(this->command());
  body.span.end = whole.span.end = whole.commands.front().span.end;
  whole.span.begin = body.span.begin;
  body.pipelines.push_back(std::move(whole));
  command.bodies.emplace_back();
  command.bodies.back().push_back(std::move(body));
  command.span.end = at_;
}

}  // namespace dts::shell
