// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/limits.hpp"

#include "core/base/text/text.hpp"

namespace dts::convert {
namespace {

constexpr std::string_view k_all = "cdflmnstuv";

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-';
}

// ulimit -Sn 4096 -c 0; without a value, it prints.
Names letters_of(const shell::Command& ulimit) {
  std::string letters;
  bool has_value = false;
  for (std::size_t i = 1; i < ulimit.words.size(); ++i) {
    const std::string word = literal_of(ulimit.words[i]);
    if (is_option(word))
      letters += word.substr(1);
    else if (word.empty() && i == 1)  // ulimit $OPTIONS
      letters += k_all;
    has_value = has_value || !is_option(word);
  }
  Names names;
  if (!has_value) return names;
  for (const char letter : letters)
    if (letter != 'H' && letter != 'S') names.insert(std::string(1, letter));
  if (names.empty()) names.insert("f");  // bash(1), ulimit: without an option, -f is assumed
  return names;
}

}  // namespace

Names limits_set_by(const shell::Command& command) {
  const std::string verb = first_word(command);
  if (verb == "ulimit") return letters_of(command);
  Names names;
  if (verb == "umask")
    for (std::size_t i = 1; i < command.words.size(); ++i)
      if (!is_option(literal_of(command.words[i]))) names.insert(verb);
  return names;
}

std::string hand_on_limits(const Names& limits) {
  std::vector<std::string> commands;
  std::string values;
  for (const std::string& one : limits)
    if (one.size() == 1) values += " -" + one + " $(ulimit -S" + one + ")";
  if (limits.count("umask") > 0) commands.emplace_back("umask $(umask)");
  // As srun hands them on, which leaves the hard limits alone.
  if (!values.empty()) commands.push_back("ulimit -S" + values);
  return std::string("export ") + k_limits + "=\"" + join(commands, "; ") + "\"\n";
}

}  // namespace dts::convert
