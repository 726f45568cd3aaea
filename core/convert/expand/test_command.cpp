// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/test_command.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

using TestOutcome = std::optional<bool>;
using shell::Command;
using shell::Word;

TestOutcome is_empty(const KnownText& value) {
  if (value.kind == KnownText::Kind::some) return false;
  return value.is_exact() ? TestOutcome(value.text.empty()) : std::nullopt;
}

// -eq and the like. An operand that is no number makes the test fail.
TestOutcome compared(const std::string& sign, std::string_view left, std::string_view right) {
  const auto a = parse_number(trim(left));
  const auto b = parse_number(trim(right));
  if (!a || !b) return std::nullopt;
  if (sign == "-eq") return *a == *b;
  if (sign == "-ne") return *a != *b;
  if (sign == "-lt") return *a < *b;
  if (sign == "-le") return *a <= *b;
  if (sign == "-gt") return *a > *b;
  if (sign == "-ge") return *a >= *b;
  return std::nullopt;
}

bool is_unary(const std::string& sign) {
  return sign == "-z" || sign == "-n";
}

TestOutcome unary(const std::string& sign, const KnownText& value) {
  if (sign == "-z") return is_empty(value);
  if (sign == "-n") return not_(is_empty(value));
  return std::nullopt;
}

// [ WORDS ]: what test(1) makes of one to four arguments.
class Test {
 public:
  Test(const Command& command, const Known& known) : command_(command), known_(known) {}

  TestOutcome run() {
    std::size_t end = command_.words.size();
    if (first_word(command_) == "[" && literal_of(command_.words[--end]) != "]")
      return std::nullopt;
    for (std::size_t i = 1; i < end; ++i)
      if (!add(command_.words[i])) return std::nullopt;
    return of(0);
  }

 private:
  // An unquoted value that is empty is no argument.
  bool add(const Word& word) {
    const bool is_quoted = std::any_of(word.pieces.begin(),
                                       word.pieces.end(),
                                       [](const shell::Piece& piece) { return piece.quoted; });
    KnownText value = known_.text(word);
    if (value.kind == KnownText::Kind::unknown && !is_quoted) return false;
    if (!is_quoted && value.is_exact()) {
      if (value.text.empty()) return true;
      if (value.text.find_first_of(" \t\n*?[") != std::string::npos) return false;
    }
    arguments_.push_back(std::move(value));
    return true;
  }

  [[nodiscard]] std::string exact(std::size_t at) const {
    return arguments_[at].is_exact() ? arguments_[at].text : std::string();
  }

  [[nodiscard]] TestOutcome of(std::size_t from) const {
    const std::size_t count = arguments_.size() - from;
    if (count == 0) return false;
    if (count == 1) return not_(is_empty(arguments_[from]));
    if (count == 3 && arguments_[from].is_exact() && arguments_[from + 2].is_exact())
      if (const TestOutcome outcome = binary(from)) return outcome;
    if (exact(from) == "!") return not_(of(from + 1));
    if (count == 2 && is_unary(exact(from))) return unary(exact(from), arguments_[from + 1]);
    return std::nullopt;
  }

  [[nodiscard]] TestOutcome binary(std::size_t from) const {
    const std::string sign = exact(from + 1);
    if (sign == "=" || sign == "==") return exact(from) == exact(from + 2);
    if (sign == "!=") return exact(from) != exact(from + 2);
    return compared(sign, exact(from), exact(from + 2));
  }

  const Command& command_;
  const Known& known_;
  std::vector<KnownText> arguments_;
};

// [[ WORDS ]]: bash(1), without parentheses and =~.
class LongTest {
 public:
  LongTest(const std::vector<Word>& words, const Known& known) : words_(words), known_(known) {}

  TestOutcome run() {
    const TestOutcome outcome = alternatives();
    return at_ == words_.size() ? outcome : std::nullopt;
  }

 private:
  [[nodiscard]] std::string sign(std::size_t at) const {
    return at < words_.size() ? literal_of(words_[at]) : std::string();
  }

  TestOutcome alternatives() {
    TestOutcome all = conjunction();
    while (sign(at_) == "||") {
      ++at_;
      all = or_(all, conjunction());
    }
    return all;
  }

  TestOutcome conjunction() {
    TestOutcome all = factor();
    while (sign(at_) == "&&") {
      ++at_;
      all = and_(all, factor());
    }
    return all;
  }

  TestOutcome factor() {
    bool is_negated = false;
    for (; sign(at_) == "!"; ++at_) is_negated = !is_negated;
    if (at_ >= words_.size()) return std::nullopt;
    const TestOutcome one = single();
    return is_negated ? not_(one) : one;
  }

  [[nodiscard]] bool ends_at(std::size_t at) const {
    return at >= words_.size() || sign(at) == "&&" || sign(at) == "||";
  }

  TestOutcome single() {
    const std::size_t from = at_;
    if (ends_at(from + 1)) {
      at_ = from + 1;
      return not_(is_empty(known_.text(words_[from])));
    }
    if (ends_at(from + 2)) {
      at_ = from + 2;
      return is_unary(sign(from)) ? unary(sign(from), known_.text(words_[from + 1])) : std::nullopt;
    }
    if (!ends_at(from + 3)) {
      at_ = words_.size() + 1;  // something else
      return std::nullopt;
    }
    at_ = from + 3;
    return binary(words_[from], sign(from + 1), words_[from + 2]);
  }

  [[nodiscard]] TestOutcome binary(const Word& left,
                                   const std::string& sign,
                                   const Word& right) const {
    const KnownText value = known_.text(left);
    if (!value.is_exact()) return std::nullopt;
    if (sign == "=" || sign == "==" || sign == "!=") {
      const auto pattern = pattern_of(right, known_);
      if (!pattern) return std::nullopt;
      return matches(value.text, *pattern) == (sign != "!=");
    }
    const KnownText other = known_.text(right);
    if (!other.is_exact()) return std::nullopt;
    // Empty is 0 here.
    return compared(
        sign, value.text.empty() ? "0" : value.text, other.text.empty() ? "0" : other.text);
  }

  const std::vector<Word>& words_;
  const Known& known_;
  std::size_t at_ = 0;
};

}  // namespace

TestOutcome not_(TestOutcome one) {
  return one ? TestOutcome(!*one) : std::nullopt;
}

TestOutcome and_(TestOutcome a, TestOutcome b) {
  if (a == false || b == false) return false;
  return a && b ? TestOutcome(true) : std::nullopt;
}

TestOutcome or_(TestOutcome a, TestOutcome b) {
  return not_(and_(not_(a), not_(b)));
}

TestOutcome outcome_of_test(const Command& command, const Known& known) {
  return Test(command, known).run();
}

TestOutcome outcome_of_long_test(const std::vector<Word>& words, const Known& known) {
  return LongTest(words, known).run();
}

std::optional<std::string> pattern_of(const Word& word, const Known& known) {
  std::string pattern;
  for (const shell::Piece& piece : word.pieces) {
    Word one;
    one.pieces.push_back(piece);
    const KnownText value = known.text(one);
    if (!value.is_exact()) return std::nullopt;
    for (const char c : value.text) {
      const bool is_active = !piece.quoted && (c == '*' || c == '?');
      if (!piece.quoted && std::string_view("[(+@!|").find(c) != std::string_view::npos)
        return std::nullopt;
      if (!is_active) pattern += '\\';
      pattern += c;
    }
  }
  return pattern;
}

bool matches(std::string_view text, std::string_view pattern) {
  // At most one place to go back to: the last *.
  std::size_t at = 0;
  std::size_t i = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (at < text.size()) {
    const bool is_quoted = i + 1 < pattern.size() && pattern[i] == '\\';
    if (i < pattern.size() && pattern[i] == '*') {
      star = i++;
      star_text = at;
    } else if (i < pattern.size() && (is_quoted ? pattern[i + 1] == text[at]
                                                : pattern[i] == '?' || pattern[i] == text[at])) {
      i += is_quoted ? 2 : 1;
      ++at;
    } else if (star != std::string_view::npos) {
      i = star + 1;
      at = ++star_text;
    } else {
      return false;
    }
  }
  while (i < pattern.size() && pattern[i] == '*') ++i;
  return i == pattern.size();
}

}  // namespace dts::convert
