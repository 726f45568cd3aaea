// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/outputs.hpp"

#include "core/base/text/text.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace dts::convert {
namespace {

std::string without_quotes(std::string_view source) {
  std::string text(source);
  std::erase_if(text, [](char c) { return c == '"' || c == '\'' || c == '{' || c == '}'; });
  return text;
}

// `text` begins at `begin` of the script.
std::string source_of(const shell::Word& word, std::string_view text, std::size_t begin) {
  if (word.span.begin < begin || word.span.end > begin + text.size()) return "";
  return without_quotes(text.substr(word.span.begin - begin, word.span.end - word.span.begin));
}

std::string source_of(const shell::Word& word, const Item& item) {
  return source_of(word, item.source, item.span().begin);
}

bool is_output(const shell::Redirection& one) {
  return one.sign.find('>') != std::string::npos && one.sign != ">&";
}

}  // namespace

bool only_keeps_output(const shell::Pipeline& pipeline) {
  const shell::Command& main = pipeline.commands[0];
  if (main.kind != shell::Command::Kind::simple) return false;
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

bool redirects_output(const shell::Pipeline& pipeline) {
  return pipeline.commands.size() > 1 || !pipeline.commands[0].redirections.empty();
}

namespace {

void add_outputs(const shell::Pipeline& pipeline,
                 std::string_view text,
                 std::size_t begin,
                 Names& files) {
  for (const shell::Command& command : pipeline.commands) {
    for (const shell::Redirection& one : command.redirections)
      if (is_output(one)) files.insert(source_of(one.target, text, begin));
    if (first_word(command) != "tee") continue;
    for (std::size_t i = 1; i < command.words.size(); ++i)
      files.insert(source_of(command.words[i], text, begin));
  }
  std::erase_if(files, [](const std::string& name) {
    return name.empty() || name[0] == '-' || name.starts_with("/dev/") ||
           name.find_first_not_of("0123456789") == std::string::npos;
  });
}

bool is_file_char(char c) {
  return shell::is_name_char(c) || c == '.' || c == '-';
}

// > FILE or tee FILE, if FILE is at `at` of the text: it is written there, not read.
bool is_written(std::string_view text, std::size_t at) {
  const std::size_t blank = at == 0 ? std::string_view::npos : text.find_last_of(" \t\n", at - 1);
  const std::size_t word = blank == std::string_view::npos ? 0 : blank + 1;
  if (text.substr(word, at - word).find('>') != std::string_view::npos) return true;
  const std::string_view before = trim(text.substr(0, word));
  return before.ends_with('>') || before.ends_with("tee") || before.ends_with("tee -a");
}

// Spelled so, as a whole name of a file or variable.
bool mentions(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || name[0] == '$' || !is_file_char(text[at - 1]);
    const bool ends = end == text.size() || !shell::is_name_char(text[end]);
    if (begins && ends && !is_written(text, at)) return true;
  }
  return false;
}

bool mentions_any(const std::string& text, const Names& names) {
  return std::any_of(
      names.begin(), names.end(), [&](const std::string& one) { return mentions(text, one); });
}

// The file's own name, and the variables that hold it, themselves or through others.
Names spellings_of(const std::string& file, const lint::Subject& subject) {
  Names all{file.substr(file.find_last_of('/') + 1)};
  for (const lint::Assigned& one : subject.runs.assigned)
    if (mentions_any(without_quotes(subject.text.substr(one.value_span.begin,
                                                        one.value_span.end - one.value_span.begin)),
                     all))
      all.insert("$" + one.name);
  return all;
}

bool may_read(const shell::Statement& statement, const Names& spellings, std::string_view text) {
  constexpr std::string_view k_not_reading[] = {"echo", "printf", "rm", "touch", "mkdir", "tee"};
  bool reads = false;
  each_command(statement, [&](const shell::Command& command) {
    for (const shell::Redirection& one : command.redirections)
      reads = reads || (one.sign == "<" && mentions_any(source_of(one.target, text, 0), spellings));
    if (is_one_of(k_not_reading, first_word(command))) return;
    for (const shell::Word& word : command.words)
      reads = reads || mentions_any(source_of(word, text, 0), spellings);
  });
  return reads;
}

}  // namespace

Names outputs_of(const Item& item) {
  Names files;
  for (const shell::Pipeline& pipeline : item.statement->pipelines)
    add_outputs(pipeline, item.source, item.span().begin, files);
  return files;
}

std::string output_read_behind(const shell::Pipeline& pipeline,
                               std::string_view text,
                               const lint::Subject& subject,
                               std::size_t end) {
  Names files;
  add_outputs(pipeline, text, 0, files);
  for (const std::string& file : files) {
    const Names spellings = spellings_of(file, subject);
    for (const shell::Statement& one : subject.script.statements)
      if ((one.span.begin >= end || !set_names(one).functions.empty()) &&
          may_read(one, spellings, subject.text))
        return file;
    for (const shell::HereDocument& one : subject.script.here_documents)
      if (one.span.begin >= end && mentions_any(without_quotes(subject.text.substr(
                                                    one.span.begin, one.span.end - one.span.begin)),
                                                spellings))
        return file;
  }
  return "";
}

namespace {

// The shell expands it to names of files.
bool is_pattern(const shell::Word& word) {
  return std::any_of(word.pieces.begin(), word.pieces.end(), [](const shell::Piece& one) {
    return one.kind == shell::Piece::Kind::literal && !one.quoted &&
           one.text.find_first_of("*?[") != std::string::npos;
  });
}

// out/*.log is a pattern of $DIR/train.log, which may be in that folder; $TMPDIR/* is not.
bool may_match(const std::string& pattern, const std::string& file) {
  const auto parts_of = [](const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::pair(std::string("."), path)
                                      : std::pair(path.substr(0, slash), path.substr(slash + 1));
  };
  const auto [folders, names] = parts_of(pattern);
  const auto [folder, name] = parts_of(file);
  if (names.find_first_not_of('*') == std::string::npos) return folders == folder;
  const bool is_folder = folders.find('$') != std::string::npos ||
                         folder.find('$') != std::string::npos ||
                         ::fnmatch(folders.c_str(), folder.c_str(), 0) == 0;
  return is_folder && ::fnmatch(names.c_str(), name.c_str(), 0) == 0;
}

}  // namespace

std::string read_by(const Item& item, const Names& files) {
  constexpr std::string_view k_not_reading[] = {
      "echo", "printf", "rm", "touch", "mkdir", "tee", "export", "exec"};
  constexpr std::string_view k_not_opening[] = {
      "ls", "du", "chmod", "chown", "chgrp", "stat", "find", "[", "test"};
  std::string found;
  const auto see = [&](const shell::Word& word, bool opens) {
    const std::string text = source_of(word, item);
    const bool has_pattern = opens && is_pattern(word);
    const auto file = std::find_if(files.begin(), files.end(), [&](const std::string& one) {
      return text == one || text.ends_with("=" + one) || (has_pattern && may_match(text, one));
    });
    if (file != files.end() && found.empty()) found = *file;
  };
  each_command(*item.statement, [&](const shell::Command& command) {
    for (const shell::Redirection& one : command.redirections)
      if (one.sign == "<") see(one.target, true);
    if (is_one_of(k_not_reading, first_word(command))) return;
    using Kind = shell::Command::Kind;
    const bool is_list = command.kind == Kind::each;  // for f in out/*.log
    const bool opens =
        is_list || (command.kind == Kind::simple && !is_one_of(k_not_opening, first_word(command)));
    for (std::size_t i = is_list ? 0 : 1; i < command.words.size(); ++i)
      see(command.words[i], opens);
  });
  return found;
}

}  // namespace dts::convert
