// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/names.hpp"

#include "core/base/text/text.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>
#include <iterator>

namespace dts::convert {
namespace {

using shell::Command;

// The name at `at`; empty: none begins there.
std::string_view name_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || !shell::is_name_begin(text[at])) return {};
  std::size_t end = at;
  while (end < text.size() && shell::is_name_char(text[end])) ++end;
  return text.substr(at, end - at);
}

}  // namespace

bool is_of_environment(std::string_view name) {
  constexpr std::string_view k_names[] = {"PATH",
                                          "LD_LIBRARY_PATH",
                                          "LIBRARY_PATH",
                                          "CPATH",
                                          "PYTHONPATH",
                                          "MANPATH",
                                          "MODULEPATH",
                                          "PKG_CONFIG_PATH",
                                          "HOME",
                                          "USER",
                                          "LOGNAME",
                                          "SHELL",
                                          "LANG",
                                          "TERM",
                                          "HOSTNAME",
                                          "TMPDIR",
                                          "CUDA_VISIBLE_DEVICES",
                                          "ROCR_VISIBLE_DEVICES",
                                          "HIP_VISIBLE_DEVICES",
                                          "GPU_DEVICE_ORDINAL",
                                          "ZE_AFFINITY_MASK",
                                          "CUDA_HOME",
                                          "CONDA_PREFIX",
                                          "VIRTUAL_ENV"};
  return is_one_of(k_names, name) || name.starts_with("SLURM_") || name.starts_with("LC_") ||
         name.starts_with("XDG_");
}

Names used_names(std::string_view text) {
  Names names;
  const bool has_arithmetic = text.find("((") != std::string_view::npos ||
                              text.find("let ") != std::string_view::npos ||
                              text.find("$[") != std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t at = i + 1;
    if (text[i] == '$') {
      if (at < text.size() && text[at] == '{') ++at;
      while (at < text.size() && (text[at] == '#' || text[at] == '!')) ++at;
    } else if (!has_arithmetic || (i > 0 && shell::is_name_char(text[i - 1]))) {
      continue;
    } else {
      at = i;
    }
    if (const std::string_view name = name_at(text, at); !name.empty()) names.emplace(name);
  }
  return names;
}

Names names_in_arithmetic(std::string_view text) {
  Names names;
  const auto see = [&names](const shell::Piece& piece) {
    names.merge(used_names("((" + piece.text + "))"));
  };
  const shell::Script script = shell::parse(text);
  each_expansion(script.statements, [&see](const shell::Piece& piece) {
    if (piece.kind == shell::Piece::Kind::arithmetic) see(piece);
  });
  each_command(script.statements, [&see](const Command& command) {
    const bool is_expression = command.kind == Command::Kind::arithmetic ||
                               (command.kind == Command::Kind::each && command.name.empty());
    for (const shell::Word& word : command.words)
      if (is_expression) std::for_each(word.pieces.begin(), word.pieces.end(), see);
  });
  return names;
}

Names words_of(std::string_view text) {
  Names words;
  constexpr std::string_view k_ends = " \t\n\r;&|(){}<>\"'`$=";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(k_ends, at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(k_ends, begin), text.size());
    words.emplace(text.substr(begin, end - begin));
    at = end;
  }
  return words;
}

namespace {

void each_command_in(const shell::Word& word, const std::function<void(const Command&)>& see) {
  for (const shell::Piece& piece : word.pieces) {
    each_command(piece.commands, see);
    for (const shell::Word& inner : piece.words) each_command_in(inner, see);
  }
}

void each_inner_command(const Command& command, const std::function<void(const Command&)>& see) {
  for (const shell::Assignment& one : command.assignments) {
    each_command_in(one.value, see);
    for (const shell::Word& element : one.elements) each_command_in(element, see);
  }
  for (const shell::Word& word : command.words) each_command_in(word, see);
  for (const auto* lists : {&command.conditions, &command.bodies})
    for (const shell::Statements& all : *lists) each_command(all, see);
}

}  // namespace

void each_command(const shell::Statement& statement,
                  const std::function<void(const Command&)>& see) {
  for (const shell::Pipeline& pipeline : statement.pipelines)
    for (const Command& command : pipeline.commands) {
      see(command);
      each_inner_command(command, see);
    }
}

void each_command(const shell::Statements& statements,
                  const std::function<void(const Command&)>& see) {
  for (const shell::Statement& statement : statements) each_command(statement, see);
}

void each_local(const shell::Statements& statements,
                const std::function<void(const shell::Assignment&)>& see) {
  each_command(statements, [&see](const Command& command) {
    if (first_word(command) != "local") return;
    for (const shell::Assignment& one : command.assignments) see(one);
  });
}

namespace {

void each_expansion_in(const shell::Word& word,
                       const std::function<void(const shell::Piece&)>& see) {
  for (const shell::Piece& piece : word.pieces) {
    if (piece.kind != shell::Piece::Kind::literal) see(piece);
    for (const shell::Word& inner : piece.words) each_expansion_in(inner, see);
  }
}

}  // namespace

bool meets(const Names& a, const Names& b) {
  return std::any_of(
      a.begin(), a.end(), [&b](const std::string& name) { return b.count(name) > 0; });
}

void each_expansion(const shell::Statements& statements,
                    const std::function<void(const shell::Piece&)>& see) {
  each_command(statements, [&see](const Command& command) {
    for (const shell::Assignment& one : command.assignments) {
      each_expansion_in(one.value, see);
      for (const shell::Word& element : one.elements) each_expansion_in(element, see);
    }
    for (const shell::Word& word : command.words) each_expansion_in(word, see);
    for (const shell::Redirection& one : command.redirections) each_expansion_in(one.target, see);
  });
}

std::string literal_of(const shell::Word& word) {
  std::string text;
  for (const shell::Piece& piece : word.pieces) {
    if (piece.kind != shell::Piece::Kind::literal) return {};
    text += piece.text;
  }
  return text;
}

std::string first_word(const Command& command) {
  return command.words.empty() ? "" : literal_of(command.words[0]);
}

bool counts_elements(const shell::Piece& piece) {
  return piece.kind == shell::Piece::Kind::parameter &&
         (piece.operation == "#[@]" || piece.operation == "#[*]");
}

const shell::Piece* only_piece(const shell::Word& word) {
  const shell::Piece* only = nullptr;
  for (const shell::Piece& piece : word.pieces) {
    if (piece.kind == shell::Piece::Kind::literal && piece.text.empty()) continue;  // of quotes
    if (only != nullptr) return nullptr;
    only = &piece;
  }
  return only;
}

bool sets_default(const shell::Piece& piece) {
  return piece.kind == shell::Piece::Kind::parameter &&
         (piece.operation.starts_with('=') || piece.operation.starts_with(":="));
}

const shell::Command* simple_command(const shell::Statement& statement) {
  if (statement.pipelines.size() != 1 || statement.pipelines[0].commands.size() != 1)
    return nullptr;
  const Command& command = statement.pipelines[0].commands[0];
  return command.kind == Command::Kind::simple ? &command : nullptr;
}

}  // namespace dts::convert
