// SPDX-License-Identifier: Apache-2.0
#include "core/convert/known/own_nodes.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/names.hpp"
#include "core/lint/script/program.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;
using shell::Word;

// The word behind "--nodelist=" or "-w"; nullopt: it does not begin so.
std::optional<Word> without_prefix(const Word& word, std::string_view prefix) {
  if (word.pieces.empty() || word.pieces[0].kind != Piece::Kind::literal ||
      !word.pieces[0].text.starts_with(prefix))
    return std::nullopt;
  Word rest = word;
  rest.pieces[0].text.erase(0, prefix.size());
  if (rest.pieces[0].text.empty()) rest.pieces.erase(rest.pieces.begin());
  return rest.pieces.empty() ? std::nullopt : std::optional(rest);
}

bool is_option(const Word& word) {
  return !word.pieces.empty() && word.pieces[0].text.starts_with('-');
}

// --nodelist=HOSTS, -wHOSTS, or the word behind --nodelist and -w; not -W and -w=.
std::optional<Word> given_by(const Command& command,
                             std::size_t at,
                             std::string_view short_name,
                             std::string_view long_name) {
  const Word& word = command.words[at];
  const std::string text = literal_of(word);
  if (text == short_name || text == long_name)
    return at + 1 < command.words.size() ? std::optional(command.words[at + 1]) : std::nullopt;
  if (auto value = without_prefix(word, std::string(long_name) + "=")) return value;
  const bool is_other = text.starts_with(std::string(short_name) + "=");
  return is_other ? std::nullopt : without_prefix(word, short_name);
}

}  // namespace

std::optional<OwnNodes> own_nodes_of(const Command& command, std::size_t end) {
  bool is_srun = lint::base_name(first_word(command)) == "srun";
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const Word& word = command.words[i];
    if (word.span.begin >= end) break;
    if (auto first = given_by(command, i, "-r", "--relative"); first && is_srun)
      return OwnNodes{std::move(*first), true};
    is_srun = is_srun && (i == 0 || is_option(word) || is_option(command.words[i - 1]));
    if (auto hosts = given_by(command, i, "-w", "--nodelist")) return OwnNodes{std::move(*hosts)};
  }
  return std::nullopt;
}

}  // namespace dts::convert
