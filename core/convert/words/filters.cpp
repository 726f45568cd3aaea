// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/filters.hpp"

#include "core/convert/words/names.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace dts::convert {

std::string option_word(const shell::Word& word) {
  if (word.pieces.empty() || word.pieces[0].kind != shell::Piece::Kind::literal) return "";
  const std::string& text = word.pieces[0].text;
  return text.size() > 1 && text[0] == '-' ? text : "";
}

namespace {

// A command of Unix that reads its input where no file is named.
struct Filter {
  std::string_view name;
  std::size_t operands;      // in front of the files: sed SCRIPT
  std::string_view letters;  // options with a value behind them: head -n 3
};

constexpr Filter k_unix_filters[] = {{"head", 0, "nc"},
                                     {"tail", 0, "nc"},
                                     {"tr", 2, ""},
                                     {"cut", 0, "dfcb"},
                                     {"sed", 1, ""},
                                     {"awk", 1, "Fv"},
                                     {"wc", 0, ""},
                                     {"sort", 0, "kt"},
                                     {"uniq", 0, "fsw"},
                                     {"grep", 1, "mABC"},
                                     {"od", 0, "AtjNw"},
                                     {"rev", 0, ""},
                                     {"fold", 0, "w"},
                                     {"column", 0, "cs"},
                                     {"cat", 0, ""},
                                     {"egrep", 1, "mABC"},
                                     {"fgrep", 1, "mABC"},
                                     {"bc", 0, ""}};

// It names no file, so that it reads the pipeline. -f FILE and -e SCRIPT, behind which each operand
// is a file, count as if they did.
bool reads_only_input(const shell::Command& command, const Filter& filter) {
  std::size_t operands = 0;
  const bool takes_script = filter.operands == 1;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string option = option_word(command.words[i]);
    if (option.empty()) {
      ++operands;
      continue;
    }
    if (takes_script && option.find_first_of("fe") != std::string::npos) return false;
    const bool is_alone = command.words[i].pieces.size() == 1;
    if (is_alone && filter.letters.find(option.back()) != std::string_view::npos) ++i;
  }
  return operands <= filter.operands;
}

}  // namespace

bool is_filter(const shell::Command& command) {
  const std::string name = first_word(command);
  const auto* filter = std::find_if(std::begin(k_unix_filters),
                                    std::end(k_unix_filters),
                                    [&](const Filter& one) { return one.name == name; });
  return filter != std::end(k_unix_filters) && reads_only_input(command, *filter);
}

}  // namespace dts::convert
