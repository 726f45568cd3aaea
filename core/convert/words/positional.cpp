// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/positional.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/names.hpp"
#include "core/shell/syntax.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

using shell::Piece;

using Arguments = std::vector<shell::Word>;

// $1, ${12}, $@, $#: as a scan finds them, which sees more than the syntax tree has.
std::size_t count_positional(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '$') continue;
    const char next = text[i + 1] == '{' && i + 2 < text.size() ? text[i + 2] : text[i + 1];
    count += (next >= '1' && next <= '9') || next == '@' || next == '*' || next == '#' ? 1 : 0;
  }
  return count;
}

// An argument in place of $1 within double quotes or without.
std::optional<std::string> argument_as(const shell::Word& word, bool quoted) {
  const Piece* piece = only_piece(word);
  if (piece != nullptr && piece->kind == Piece::Kind::parameter && piece->operation.empty() &&
      shell::is_name_begin(piece->text[0]))
    return quoted || !piece->quoted ? std::optional("${" + piece->text + "}") : std::nullopt;
  const bool is_literal = std::all_of(word.pieces.begin(), word.pieces.end(), [](const Piece& one) {
    return one.kind == Piece::Kind::literal &&
           (one.quoted || one.text.find_first_of("*?[~{") == std::string::npos);
  });
  const std::string text = literal_of(word);
  if (!is_literal) return std::nullopt;
  if (quoted) {
    std::string escaped;
    for (const char c : text) {
      if (c == '"' || c == '\\' || c == '$' || c == '`') escaped += '\\';
      escaped += c;
    }
    return escaped;
  }
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return shell::is_name_char(c) ||
           std::string_view("./:=,+@%-").find(c) != std::string_view::npos;
  });
  return is_plain ? std::optional(text) : std::nullopt;
}

// "$@" as a word of its own becomes the words of the call.
std::optional<Edit> all_arguments(const Piece& piece,
                                  const Arguments& arguments,
                                  std::string_view text) {
  const shell::Span& span = piece.span;
  const bool is_word = piece.text == "@" && piece.quoted && piece.operation.empty() &&
                       span.begin > 0 && text[span.begin - 1] == '"' && span.end < text.size() &&
                       text[span.end] == '"';
  if (!is_word) return std::nullopt;
  std::string words;
  for (const shell::Word& word : arguments)
    words += (words.empty() ? "" : " ") +
             std::string(text.substr(word.span.begin, word.span.end - word.span.begin));
  return Edit{{span.begin - 1, span.end + 1}, words};
}

std::optional<Edit> edit_of(const Piece& piece, const Arguments& arguments, std::string_view text) {
  if (piece.text == "@" || piece.text == "*") return all_arguments(piece, arguments, text);
  if (piece.text == "#")
    return piece.operation.empty()
               ? std::optional(Edit{piece.span, std::to_string(arguments.size())})
               : std::nullopt;
  const auto number = parse_number(piece.text);
  if (!number) return std::nullopt;
  const bool has_default = piece.operation.starts_with(":-");
  if (!piece.operation.empty() && !has_default) return std::nullopt;
  if (*number > arguments.size()) {
    const std::string rest = has_default ? piece.operation.substr(2) : "";
    const bool is_plain = rest.find_first_of("$`\"'\\ {}*?") == std::string::npos;
    return is_plain ? std::optional(Edit{piece.span, rest}) : std::nullopt;
  }
  const shell::Word& word = arguments[*number - 1];
  const auto argument = argument_as(word, piece.quoted);
  if (!argument || (has_default && literal_of(word).empty())) return std::nullopt;
  return Edit{piece.span, *argument};
}

// `local` has no meaning outside of a function.
std::vector<Edit> without_local(const shell::Statements& body) {
  std::vector<Edit> edits;
  each_command(body, [&edits](const shell::Command& command) {
    if (first_word(command) == "local") edits.push_back({command.words[0].span, ""});
  });
  return edits;
}

}  // namespace

bool is_positional(const Piece& piece) {
  return piece.kind == Piece::Kind::parameter && !piece.text.empty() &&
         (piece.text.find_first_not_of("0123456789") == std::string::npos
              ? piece.text != "0"
              : piece.text == "@" || piece.text == "*" || piece.text == "#");
}

std::optional<std::vector<Edit>> edits_for(const shell::Statements& body,
                                           const shell::Span& extent,
                                           const shell::Command& call,
                                           std::string_view text) {
  const auto* first = call.words.data() + 1;
  const Arguments arguments(first, call.words.data() + call.words.size());
  const Piece* all = arguments.size() == 1 ? only_piece(arguments[0]) : nullptr;
  const bool are_same = all != nullptr && all->text == "@" && all->operation.empty();
  std::vector<Edit> edits = without_local(body);
  std::size_t seen = 0;
  bool is_possible = true;
  each_expansion(body, [&](const Piece& piece) {
    if (!is_positional(piece) || are_same) return;
    ++seen;
    auto edit = edit_of(piece, arguments, text);
    is_possible = is_possible && edit.has_value();
    if (edit) edits.push_back(*std::move(edit));
  });
  const std::string_view source = text.substr(extent.begin, extent.end - extent.begin);
  if (!is_possible || (!are_same && seen != count_positional(source))) return std::nullopt;
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return a.span.begin < b.span.begin;
  });
  for (std::size_t i = 1; i < edits.size(); ++i)
    if (edits[i].span.begin < edits[i - 1].span.end) return std::nullopt;
  return edits;
}

}  // namespace dts::convert
