// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/errexit.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <optional>

namespace dts::convert {
namespace {

// #!/bin/bash -e
bool begins_with_errexit(std::string_view text) {
  if (!text.starts_with("#!")) return false;
  const std::vector<std::string> words = split(text.substr(0, text.find('\n')), ' ');
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "errexit" || (word.starts_with('-') && !word.starts_with("--") &&
                                 word.find('e') != std::string::npos);
  });
}

// set -e, +e, -euo pipefail, -o errexit; nullopt: it leaves that as it is.
std::optional<bool> errexit_of(const lint::Run& run) {
  std::optional<bool> stops;
  if (run.name() != "set") return stops;
  for (std::size_t i = 1; i < run.words.size(); ++i) {
    const std::string& word = run.words[i].value.text;
    if (word.empty() || word == "--") break;
    const bool has_letter = (word[0] == '-' || word[0] == '+') && word[1] != '-' &&
                            word.find('e', 1) != std::string::npos;
    if (has_letter) stops = word[0] == '-';
    if (word == "errexit") stops = run.words[i - 1].value.text.starts_with('-');
  }
  return stops;
}

}  // namespace

Errexit::Errexit(std::string_view text) : is_on_(begins_with_errexit(text)) {}

void Errexit::follow(const Item& item) {
  for (const lint::Run* run : item.runs) {
    const auto change = errexit_of(*run);
    if (!change || run->around.is_in_function) continue;
    if (*change || !run->around.is_conditional) is_on_ = *change;
  }
}

}  // namespace dts::convert
