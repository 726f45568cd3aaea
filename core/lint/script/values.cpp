// SPDX-License-Identifier: Apache-2.0
#include "core/lint/script/values.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <optional>

namespace dts::lint {
namespace {

using shell::Piece;

constexpr std::size_t k_most_parts = 4096;
constexpr std::size_t k_longest_command = 200;  // kept of an unknown command

std::string unknown(char open, std::string_view text, char close) {
  std::string marked(text.substr(0, k_longest_command));
  std::replace(marked.begin(), marked.end(), close, '\x02');  // so that the next one closes it
  return std::string(1, k_unknown) + open + marked + close;
}

// The text between the delimiters of "$(...)", "`...`" and "$((...))".
std::string_view inside_of(const Piece& piece, std::string_view text) {
  std::string_view whole = text.substr(piece.span.begin, piece.span.end - piece.span.begin);
  const std::size_t open = whole.starts_with('`') ? 1 : 2;
  whole.remove_prefix(std::min(open, whole.size()));
  if (!whole.empty()) whole.remove_suffix(1);
  return whole;
}

// ${NAME:-default}: the default of a variable that the script does not set.
std::optional<std::string_view> default_of(const Piece& piece) {
  for (const std::string_view sign : {":-", "-", ":=", "="})
    if (std::string_view(piece.operation).starts_with(sign))
      return std::string_view(piece.operation).substr(sign.size());
  return std::nullopt;
}

Value value_of_parameter(const Piece& piece, const Variables& variables) {
  const Value* known = variables.find(piece.text);
  if (known != nullptr && (piece.operation.empty() || default_of(piece))) return *known;
  // The rest of the operation, such as a substring, is kept for code that looks for it.
  return {unknown('{', piece.text + piece.operation, '}'), true};
}

// $(which NAME), $(command -v NAME): as if the script wrote NAME.
std::optional<std::string> program_found_by(const Piece& piece) {
  if (piece.commands.size() != 1 || piece.commands[0].pipelines.size() != 1 ||
      piece.commands[0].pipelines[0].commands.size() != 1)
    return std::nullopt;
  std::vector<std::string> words;
  for (const shell::Word& word : piece.commands[0].pipelines[0].commands[0].words) {
    if (word.pieces.size() != 1 || word.pieces[0].kind != Piece::Kind::literal) return std::nullopt;
    words.push_back(word.pieces[0].text);
  }
  const bool finds = (words.size() == 2 && words[0] == "which") ||
                     (words.size() == 3 && words[0] == "command" && words[1] == "-v");
  return finds ? std::optional(words.back()) : std::nullopt;
}

Value value_of_piece(const Piece& piece, const Variables& variables, std::string_view text) {
  switch (piece.kind) {
    case Piece::Kind::literal:
      return {piece.text, true};
    case Piece::Kind::parameter:
      return value_of_parameter(piece, variables);
    case Piece::Kind::arithmetic:
      return {unknown('[', piece.text, ']'), true};
    case Piece::Kind::command:
      if (auto program = program_found_by(piece)) return {*std::move(program), true};
      break;
    case Piece::Kind::process:
      break;
  }
  return {unknown('(', inside_of(piece, text), ')'), true};
}

void add(Value& all, const Value& one) {
  if (all.text.size() < k_longest_value) all.text += one.text;
  all.is_certain = all.is_certain && one.is_certain;
}

// The array of ${NAME[@]} or ${NAME[*]}; nullptr for any other piece.
const std::vector<Value>* array_of(const Piece& piece, const Variables& variables) {
  if (piece.kind != Piece::Kind::parameter ||
      (piece.operation != "[@]" && piece.operation != "[*]"))
    return nullptr;
  return variables.find_array(piece.text);
}

// Adds the words of an unquoted value. The first of them continues the last word of `words`.
void add_split(std::vector<ExpandedWord>& words, const Value& value, shell::Span span) {
  constexpr std::string_view blanks = " \t\n";
  constexpr std::string_view blanks_and_unknown = " \t\n\x01";
  static_assert(blanks_and_unknown.back() == k_unknown);
  std::size_t at = 0;
  while (at < value.text.size() && words.size() < k_most_parts) {
    const std::size_t begin = value.text.find_first_not_of(blanks, at);
    if (begin > at && !words.back().value.text.empty()) words.push_back({{"", true}, span, false});
    if (begin == std::string::npos) return;
    // An unknown part is one word, whatever it contains.
    std::size_t end = value.text.find_first_of(blanks_and_unknown, begin);
    while (end < value.text.size() && value.text[end] == k_unknown) {
      if (end + 1 < value.text.size()) {
        const char close = value.text[end + 1] == '{'   ? '}'
                           : value.text[end + 1] == '[' ? ']'
                                                        : ')';
        end = std::min(value.text.find(close, end), value.text.size() - 1);
      }
      end = value.text.find_first_of(blanks_and_unknown, end + 1);
    }
    end = std::min(end, value.text.size());
    add(words.back().value, {value.text.substr(begin, end - begin), value.is_certain});
    at = end;
  }
}

}  // namespace

bool Value::mentions(std::string_view variable) const {
  for (std::size_t at = text.find(variable); at != std::string::npos;
       at = text.find(variable, at + 1)) {
    if (at < 2 || text[at - 1] != '{' || text[at - 2] != k_unknown) continue;
    const std::size_t end = at + variable.size();
    if (end < text.size() && (text[end] == '}' || text[end] == ':' || text[end] == '%'))
      return true;
  }
  return false;
}

void Variables::set_array(const std::string& name, std::vector<Value> elements) {
  arrays_[name] = std::move(elements);
}

void Variables::append_array(const std::string& name, std::vector<Value> elements) {
  constexpr std::size_t k_most_elements = 4096;
  std::vector<Value>& all = arrays_[name];
  for (Value& one : elements)
    if (all.size() < k_most_elements) all.push_back(std::move(one));
}

const Value* Variables::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

const std::vector<Value>* Variables::find_array(const std::string& name) const {
  const auto found = arrays_.find(name);
  return found == arrays_.end() ? nullptr : &found->second;
}

Value expanded_value(const shell::Word& word, const Variables& variables, std::string_view text) {
  Value all;
  for (const Piece& piece : word.pieces) {
    if (const auto* elements = array_of(piece, variables)) {
      for (std::size_t i = 0; i < elements->size(); ++i) {
        if (i > 0) add(all, {" ", true});
        add(all, (*elements)[i]);
      }
    } else {
      add(all, value_of_piece(piece, variables, text));
    }
  }
  return all;
}

std::vector<ExpandedWord> expand(const shell::Word& word,
                                 const Variables& variables,
                                 std::string_view text) {
  std::vector<ExpandedWord> words{{{"", true}, word.span, true}};
  bool is_quoted = false;
  for (const Piece& piece : word.pieces) {
    if (piece.kind == Piece::Kind::literal) {
      add(words.back().value, {piece.text, true});
      is_quoted = is_quoted || piece.quoted;
      continue;
    }
    words.back().is_literal = false;
    if (const auto* elements = array_of(piece, variables)) {
      for (std::size_t i = 0; i < elements->size(); ++i) {
        if (i > 0) words.push_back({{"", true}, word.span, false});
        add(words.back().value, (*elements)[i]);
      }
    } else if (piece.quoted) {
      add(words.back().value, value_of_piece(piece, variables, text));
    } else {
      add_split(words, value_of_piece(piece, variables, text), word.span);
    }
  }
  if (words.back().value.text.empty() && !is_quoted) words.pop_back();
  return words;
}

}  // namespace dts::lint
