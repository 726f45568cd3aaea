// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/outputs.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

std::string source_of(const shell::Word& word, const Item& item) {
  const std::size_t begin = item.span().begin;
  if (word.span.begin < begin || word.span.end > begin + item.source.size()) return "";
  std::string text = item.source.substr(word.span.begin - begin, word.span.end - word.span.begin);
  std::erase_if(text, [](char c) { return c == '"' || c == '\'' || c == '{' || c == '}'; });
  return text;
}

bool is_output(const shell::Redirection& one) {
  return one.sign.find('>') != std::string::npos && one.sign != ">&";
}

}  // namespace

bool only_keeps_output(const shell::Pipeline& pipeline) {
  const shell::Command& main = pipeline.commands[0];
  if (main.kind != shell::Command::Kind::simple || pipeline.negated) return false;
  return std::all_of(pipeline.commands.begin() + 1,
                     pipeline.commands.end(),
                     [](const shell::Command& one) {
                       return one.kind == shell::Command::Kind::simple && first_word(one) == "tee";
                     }) &&
         std::none_of(
             main.redirections.begin(), main.redirections.end(), [](const shell::Redirection& one) {
               return one.sign.find('<') != std::string::npos;
             });
}

bool keeps_output(const shell::Pipeline& pipeline) {
  return pipeline.commands.size() > 1 || !pipeline.commands[0].redirections.empty();
}

Names outputs_of(const Item& item) {
  Names files;
  for (const shell::Pipeline& pipeline : item.statement->pipelines)
    for (const shell::Command& command : pipeline.commands) {
      for (const shell::Redirection& one : command.redirections)
        if (is_output(one)) files.insert(source_of(one.target, item));
      if (first_word(command) != "tee") continue;
      for (std::size_t i = 1; i < command.words.size(); ++i)
        files.insert(source_of(command.words[i], item));
    }
  std::erase_if(files, [](const std::string& name) {
    return name.empty() || name[0] == '-' || name.starts_with("/dev/") ||
           name.find_first_not_of("0123456789") == std::string::npos;
  });
  return files;
}

std::string read_by(const Item& item, const Names& files) {
  constexpr std::string_view k_not_reading[] = {
      "echo", "printf", "rm", "touch", "mkdir", "tee", "export", "exec"};
  std::string found;
  const auto see = [&](const std::string& text) {
    const auto file = std::find_if(files.begin(), files.end(), [&text](const std::string& one) {
      return text == one || text.ends_with("=" + one);
    });
    if (file != files.end() && found.empty()) found = *file;
  };
  each_command(*item.statement, [&](const shell::Command& command) {
    for (const shell::Redirection& one : command.redirections)
      if (one.sign == "<") see(source_of(one.target, item));
    if (is_one_of(k_not_reading, first_word(command))) return;
    for (std::size_t i = 1; i < command.words.size(); ++i) see(source_of(command.words[i], item));
  });
  return found;
}

}  // namespace dts::convert
