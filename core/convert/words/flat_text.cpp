// SPDX-License-Identifier: Apache-2.0
// Flat words as text: for the shell, for a script within a script, for readers of options.
#include "core/base/text/text.hpp"
#include "core/convert/words/flat.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>
#include <set>

namespace dts::convert {
namespace {

using SegmentKind = Segment::Kind;

constexpr char k_brace = '\x02';  // a closing one within what is unknown

bool is_plain_byte(char c) {
  return shell::is_name_char(c) ||
         std::string_view("./-+=:,@%*?[]{}~^!").find(c) != std::string_view::npos;
}

// Everything quoted but what is to be expanded.
std::string escaped(const std::string& pattern) {
  std::string text;
  for (const char c : pattern) {
    if (!is_plain_byte(c)) text += '\\';
    text += c;
  }
  return text;
}

void collect(const shell::Word& word, std::set<std::size_t>& begins) {
  for (const shell::Piece& piece : word.pieces) {
    if (piece.kind != shell::Piece::Kind::literal) begins.insert(piece.span.begin);
    for (const shell::Word& inner : piece.words) collect(inner, begins);
  }
}

// Where expansions begin, those within others included.
std::set<std::size_t> expansions_of(const std::string& text) {
  std::set<std::size_t> begins;
  const shell::Script script = shell::parse(text);
  each_command(script.statements, [&](const shell::Command& command) {
    for (const shell::Assignment& one : command.assignments) {
      collect(one.value, begins);
      for (const shell::Word& element : one.elements) collect(element, begins);
    }
    for (const shell::Word& word : command.words) collect(word, begins);
    for (const shell::Redirection& one : command.redirections) collect(one.target, begins);
  });
  for (const shell::HereDocument& one : script.here_documents) collect(one.text, begins);
  return begins;
}

// "$NAME", or "${NAME}" where the text behind it would continue the name.
std::string delimited(const std::string& source, const FlatWord& word, std::size_t at) {
  if (at + 1 >= word.size() || word[at + 1].kind == SegmentKind::source ||
      word[at + 1].text.empty())
    return source;
  const char next = word[at + 1].text[0];
  if (source.size() < 2 || source[0] != '$' || !shell::is_name_char(source[1])) return source;
  return shell::is_name_char(next) || next == '[' ? "${" + source.substr(1) + "}" : source;
}

// Where a command begins, so that a variable of the environment there may be a whole script.
bool is_at_command(const FlatWord& text, std::size_t at) {
  if (at + 1 < text.size() && !text[at + 1].text.empty() &&
      (text[at + 1].kind == SegmentKind::source ||
       std::string_view(" \t\n;&|)").find(text[at + 1].text[0]) == std::string_view::npos))
    return false;  // $FOLDER/prog
  std::string before;
  for (std::size_t i = 0; i < at; ++i) before += text[i].text;
  while (!before.empty() && (before.back() == ' ' || before.back() == '\t')) before.pop_back();
  if (before.empty()) return true;
  const std::size_t word = before.find_last_of(" \t\n;&|(") + 1;
  constexpr std::string_view k_openers[] = {"", "{", "then", "else", "do", "exec", "time", "!"};
  return is_one_of(k_openers, std::string_view(before).substr(word));
}

}  // namespace

bool may_hold_script(const FlatWord& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i].kind != SegmentKind::source) continue;
    if (text[i].is_of_script && !text[i].is_blank) return true;
    if (text[i].text.starts_with("$((")) continue;  // of the environment's variables: a number
    if (is_at_command(text, i)) return true;
  }
  return false;
}

std::optional<std::string> plain(const FlatWord& word) {
  std::string text;
  for (const Segment& one : word) {
    if (one.kind != SegmentKind::literal) return std::nullopt;
    text += one.text;
  }
  return text;
}

std::string to_source(const FlatWord& word) {
  std::string text;
  std::string literal;
  bool has_literal = false;
  const auto flush = [&] {
    if (has_literal && (!literal.empty() || word.size() == 1)) text += shell_quote(literal);
    literal.clear();
    has_literal = false;
  };
  for (std::size_t i = 0; i < word.size(); ++i) {
    const Segment& one = word[i];
    if (one.kind == SegmentKind::literal) {
      literal += one.text;
      has_literal = true;
      continue;
    }
    flush();
    if (one.kind == SegmentKind::pattern)
      text += escaped(one.text);
    else
      text += one.quoted ? "\"" + one.text + "\"" : delimited(one.text, word, i);
  }
  flush();
  return text.empty() ? "''" : text;
}

std::string to_source(const std::vector<FlatWord>& words) {
  std::vector<std::string> texts;
  for (const FlatWord& word : words) texts.push_back(to_source(word));
  return join(texts, " ");
}

std::optional<std::string> to_script(const FlatWord& word) {
  std::string text;
  std::vector<std::size_t> sources;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool is_source = word[i].kind == SegmentKind::source;
    if (is_source) sources.push_back(text.size());
    text += is_source ? delimited(word[i].text, word, i) : word[i].text;
  }
  const std::set<std::size_t> begins =
      sources.empty() ? std::set<std::size_t>{} : expansions_of(text);
  for (const std::size_t at : sources)
    if (begins.count(at) == 0) return std::nullopt;
  if (sources.empty()) return text;
  Names own;  // of which the inner shell has values of its own
  for (const shell::Statement& one : shell::parse(text).statements)
    own.merge(set_names(one).variables);
  for (const Segment& one : word)
    if (one.kind == SegmentKind::source && meets(used_names(one.text), own)) return std::nullopt;
  return text;
}

FlatWord from_expanded(const lint::ExpandedWord& word) {
  FlatWord made;
  const std::string& text = word.value.text;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != lint::k_unknown || at + 1 >= text.size()) {
      const std::size_t end = std::min(text.find(lint::k_unknown, at + 1), text.size());
      made.push_back({SegmentKind::literal, text.substr(at, end - at), true});
      at = end;
      continue;
    }
    const char open = text[at + 1];
    const char close = open == '{' ? '}' : open == '[' ? ']' : ')';
    const std::size_t end = std::min(text.find(close, at + 2), text.size());
    std::string inside = text.substr(at + 2, end - at - 2);
    std::replace(inside.begin(), inside.end(), k_brace, close);
    const bool is_source = inside.starts_with('$') || inside.starts_with('`');  // of to_expanded()
    const std::string source = is_source     ? inside
                               : open == '{' ? "${" + inside + "}"
                               : open == '[' ? "$((" + inside + "))"
                                             : "$(" + inside + ")";
    made.push_back({SegmentKind::source, source, true});
    at = end + 1;
  }
  return made;
}

std::vector<lint::ExpandedWord> to_expanded(const std::vector<FlatWord>& words) {
  std::vector<lint::ExpandedWord> expanded;
  for (const FlatWord& word : words) {
    lint::ExpandedWord one;
    one.is_literal = true;
    for (const Segment& part : word) {
      if (part.kind == SegmentKind::source) {
        std::string source = part.text;
        std::replace(source.begin(), source.end(), '}', k_brace);
        one.value.text += std::string(1, lint::k_unknown) + "{" + source + "}";
        one.is_literal = false;
      } else {
        one.value.text += part.text;
      }
    }
    expanded.push_back(std::move(one));
  }
  return expanded;
}

}  // namespace dts::convert
