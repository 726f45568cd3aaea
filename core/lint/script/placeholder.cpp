// SPDX-License-Identifier: Apache-2.0
#include "core/lint/script/placeholder.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <cctype>

namespace dts::lint {

namespace {

// The words with which the text begins.
std::string_view words_at(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == ' ' || c == '_' || c == '-';
  });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// [INSERT ACCOUNT HERE] as a whole value, also as one of an #SBATCH line; not node[1-4], [a-z] and
// "out [a b].log", and not in a comment.
bool is_words_in_brackets(std::string_view value, std::string_view option) {
  constexpr std::string_view k_never[] = {"output", "error", "job-name"};  // any text is one
  constexpr std::string_view k_with_one_word[] = {"account", "partition", "qos", "mail-user"};
  if (is_one_of(k_never, option)) return false;
  const bool is_line = value.starts_with("#SBATCH");
  value = value.substr(0, value.find(" #"));
  for (std::size_t at = value.find('['); at != std::string_view::npos;
       at = value.find('[', at + 1)) {
    const bool begins = at == 0 || (is_line && (value[at - 1] == '=' || value[at - 1] == ' '));
    const std::string_view words = words_at(value.substr(at + 1));
    const std::string_view rest = value.substr(at + 1 + words.size());
    const bool ends = rest == "]" || (is_line && (rest.starts_with("] ") || rest == "]\r"));
    const bool has_words = words.find(' ') != std::string_view::npos ||
                           (is_one_of(k_with_one_word, option) && !words.empty());
    if (begins && ends && has_words) return true;
  }
  return false;
}

}  // namespace

bool is_placeholder(std::string_view value, std::string_view option) {
  if (is_words_in_brackets(value, option)) return true;
  const std::string lower = in_lower_case(value);
  const std::size_t open = lower.find('<');
  if (open != std::string::npos && lower.find('>', open) != std::string::npos) return true;
  // {{ nodes }}, { partition }, {LIMIT}, but not ${VARIABLE}.
  const std::size_t brace = lower.find('{');
  if (brace != std::string::npos && lower.find('}', brace) != std::string::npos &&
      (brace == 0 || lower[brace - 1] != '$') && lower.find(',') == std::string::npos)
    return true;
  if (lower.find("changeme") != std::string::npos) return true;
  for (std::size_t at = lower.find("your"); at != std::string::npos;
       at = lower.find("your", at + 1)) {
    const bool begins = at == 0 || lower[at - 1] < 'a' || lower[at - 1] > 'z';
    const char next = at + 4 < lower.size() ? lower[at + 4] : ' ';
    if (begins && (next < 'a' || next > 'z')) return true;
  }
  return false;
}

}  // namespace dts::lint
