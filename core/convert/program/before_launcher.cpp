// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/before_launcher.hpp"

#include <fmt/format.h>

namespace dts::convert {

void read_before(const std::vector<FlatWord>& words, std::size_t count, Launched& made) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string word = plain(words[i]).value_or("");
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && equals > 0 && word[0] != '-' && word.find('/') > equals) {
      made.variables.push_back(words[i]);
    } else if (word == "timeout") {
      made.notes.emplace_back("timeout: the run knows its time limit, and saves before it");
      while (i + 1 < count) ++i;
    } else if (word == "/usr/bin/time" || word == "time") {
      made.notes.emplace_back("time: the run directory has the times");
      while (i + 1 < count) ++i;
    } else if (word != "exec" && word != "nohup" && word != "env" && word != "command") {
      made.losses.push_back(
          fmt::format("`{}` before the launcher is not run", to_source(words[i])));
    }
  }
}

}  // namespace dts::convert
