// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/known_text.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/names.hpp"
#include "core/convert/words/resolve.hpp"
#include "core/shell/parse.hpp"

#include <filesystem>

namespace dts::convert {
namespace {

using shell::Piece;
using TextKind = KnownText::Kind;

constexpr int k_deepest_default = 8;

class Expansion {
 public:
  explicit Expansion(const KnownVariables& variables) : variables_(variables) {}

  KnownText word(const shell::Word& word, int depth) const {
    KnownText all{TextKind::exact};
    bool is_known = true;
    bool has_text = false;
    for (const Piece& one : word.pieces) {
      const KnownText part = piece(one, depth);
      is_known = is_known && part.is_exact();
      has_text = has_text || part.kind == TextKind::some || !part.text.empty();
      all.text += part.text;
      if (all.text.size() > k_longest_value) return {TextKind::some};
    }
    if (is_known) return all;
    return {has_text ? TextKind::some : TextKind::unknown};
  }

 private:
  KnownText piece(const Piece& one, int depth) const {
    switch (one.kind) {
      case Piece::Kind::literal:
        return {TextKind::exact, one.text};
      case Piece::Kind::parameter:
        return parameter(one, depth);
      case Piece::Kind::arithmetic:
        if (const auto value = number_of(one.text, variables_))
          return {TextKind::exact, std::to_string(*value)};
        return {};
      case Piece::Kind::command:
        return folder(one.commands);
      case Piece::Kind::process:
        break;
    }
    return {};
  }

  KnownText parameter(const Piece& one, int depth) const {
    const std::string& operation = one.operation;
    if (counts_elements(one)) return variables_("#" + one.text);
    const KnownText value = variables_(one.text);
    if (operation.empty()) return value;
    const bool looks_at_text = operation[0] == ':';
    const std::size_t sign = looks_at_text ? 1 : 0;
    const char kind = sign < operation.size() ? operation[sign] : '\0';
    if ((kind != '-' && kind != '=' && kind != '+') || value.kind == TextKind::unknown) return {};
    const bool is_there =
        value.kind == TextKind::some || (looks_at_text ? !value.text.empty() : value.is_set);
    if (kind != '+' && is_there) return value;
    if (kind == '+' && !is_there) return {TextKind::exact};
    const std::string other = operation.substr(sign + 1);
    const bool is_bare = one.quoted && other.find('"') == std::string::npos;
    const auto source = word_in(is_bare ? "\"" + other + "\"" : other);
    return source && depth < k_deepest_default ? word(*source, depth + 1) : KnownText{};
  }

  // pwd; cd FOLDER; pwd; cd FOLDER && pwd
  KnownText folder(const shell::Statements& commands) const {
    std::vector<const shell::Command*> all;
    for (const shell::Statement& one : commands)
      for (const shell::Pipeline& pipeline : one.pipelines) {
        const bool is_plain = pipeline.commands.size() == 1 && !one.background &&
                              pipeline.commands[0].kind == shell::Command::Kind::simple &&
                              pipeline.commands[0].assignments.empty();
        if (!is_plain) return {};
        all.push_back(&pipeline.commands[0]);
      }
    if (all.empty() || all.size() > 2 || all.back()->words.size() != 1 ||
        literal_of(all.back()->words[0]) != "pwd")
      return {};
    KnownText here = variables_("PWD");
    if (all.size() == 1 || !here.is_exact()) return here;
    const auto& words = all.front()->words;
    if (words.size() != 2 || literal_of(words[0]) != "cd") return {};
    const KnownText path = word(words[1], k_deepest_default);
    if (!path.is_exact() || path.text.empty() || path.text[0] == '-') return {};
    std::string whole = (std::filesystem::path(here.text) / path.text).lexically_normal().string();
    while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
    return {TextKind::exact, whole};
  }

  const KnownVariables& variables_;
};

}  // namespace

KnownText text_of(const shell::Word& word, const KnownVariables& variables) {
  return Expansion(variables).word(word, 0);
}

std::optional<std::int64_t> number_of(std::string_view expression,
                                      const KnownVariables& variables) {
  return arithmetic(expression, [&](const std::string& name) -> std::optional<std::int64_t> {
    const KnownText value = variables(name);
    const auto parsed =
        value.is_exact() ? parse_number(value.text.empty() ? "0" : value.text) : std::nullopt;
    if (!parsed || *parsed >= (std::uint64_t{1} << 31)) return std::nullopt;
    return static_cast<std::int64_t>(*parsed);
  });
}

std::optional<shell::Word> word_in(const std::string& source) {
  const shell::Script script = shell::parse("D=" + source);
  if (script.statements.size() != 1 || !script.problems.empty()) return std::nullopt;
  const shell::Command* command = simple_command(script.statements[0]);
  const bool is_word = command != nullptr && command->assignments.size() == 1 &&
                       command->words.empty() && !command->assignments[0].is_array &&
                       command->redirections.empty();
  return is_word ? std::optional(command->assignments[0].value) : std::nullopt;
}

}  // namespace dts::convert
