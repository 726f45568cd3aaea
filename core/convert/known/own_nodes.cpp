// SPDX-License-Identifier: Apache-2.0
#include "core/convert/known/own_nodes.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/names.hpp"
#include "core/lint/script/program.hpp"

#include <string>
#include <string_view>

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

}  // namespace

std::optional<OwnNodes> own_nodes_of(const Command& command, std::size_t end) {
  bool is_srun = lint::base_name(first_word(command)) == "srun";
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const Word& word = command.words[i];
    if (word.span.begin >= end) break;
    const std::string text = literal_of(word);
    const bool has_next = i + 1 < command.words.size();
    if (is_srun && (text == "-r" || text == "--relative") && has_next)
      return OwnNodes{command.words[i + 1], true};
    for (const char* prefix : {"--relative=", "-r"})
      if (auto value = without_prefix(word, prefix); value && is_srun)
        return OwnNodes{*value, true};
    is_srun = is_srun && (i == 0 || is_option(word) || is_option(command.words[i - 1]));
    if ((text == "-w" || text == "--nodelist") && has_next) return OwnNodes{command.words[i + 1]};
    if (auto value = without_prefix(word, "--nodelist=")) return OwnNodes{*value};
    if (text != "-W" && !text.starts_with("-w="))
      if (auto value = without_prefix(word, "-w")) return OwnNodes{*value};
  }
  return std::nullopt;
}

}  // namespace dts::convert
