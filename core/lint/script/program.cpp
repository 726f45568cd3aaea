// SPDX-License-Identifier: Apache-2.0
#include "core/lint/script/program.hpp"

#include <algorithm>

namespace dts::lint {

std::string base_name(const std::string& path) {
  if (path.starts_with(k_unknown)) {
    // "$PREFIX/bin/python" is known to be python.
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
  }
  return path.substr(path.rfind('/') + 1);
}

bool is_python(std::string_view program) {
  if (!program.starts_with("python")) return false;
  return program.substr(6).find_first_not_of("0123456789.") == std::string_view::npos;
}

std::optional<ProgramOption> program_option(const std::vector<ExpandedWord>& words,
                                            std::size_t from,
                                            std::string_view name) {
  const auto spelled = [](std::string text) {
    std::replace(text.begin(), text.end(), '_', '-');
    return text;
  };
  const std::string wanted = spelled(std::string(name));
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::string& word = words[i].value.text;
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || spelled(word.substr(2, equals - 2)) != wanted) continue;
    if (equals != std::string::npos)
      return ProgramOption{{word.substr(equals + 1), words[i].value.is_certain}, words[i].span};
    if (i + 1 < words.size())
      return ProgramOption{words[i + 1].value, {words[i].span.begin, words[i + 1].span.end}};
  }
  return std::nullopt;
}

}  // namespace dts::lint
