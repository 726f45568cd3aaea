// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace dts {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view k_blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(k_blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_blank) - first + 1);
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
#ifdef __cpp_lib_to_chars
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
#else  // libstdc++ before 11; strtod also takes blanks, a plus sign and hexadecimal digits
  const std::string terminated(text);
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos ||
      text.front() == '+')
    return std::nullopt;
  char* end = nullptr;
  value = std::strtod(terminated.c_str(), &end);
  if (end != terminated.c_str() + terminated.size()) return std::nullopt;
#endif
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string shell_quote(std::string_view word) {
  constexpr std::string_view k_plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%";
  // A leading '=' is zsh's command expansion and a leading '~' is not in the set.
  if (!word.empty() && word.front() != '=' &&
      word.find_first_not_of(k_plain) == std::string_view::npos)
    return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string glob_escaped(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("*?[\\{}").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string replaced(std::string text, const std::string& name, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
    text.replace(at, name.size(), value);
  return text;
}

bool is_safe_name(std::string_view name) {
  const auto alnum = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (name.empty() || !alnum(name.front())) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return alnum(c) || c == '.' || c == '_' || c == '-';
  });
}

bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 32 || c == 127;
  });
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before = previous;
    previous = current;
  }
  return previous[b.size()];
}

namespace {

constexpr std::size_t k_shortest_start = 5;  // "--gpu"

// The shortest candidate that begins with `word`: --gpus suggests --gpus-per-node.
std::optional<std::string> completed(std::string_view word,
                                     const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  if (word.size() < k_shortest_start) return best;
  for (const std::string& candidate : candidates)
    if (candidate.starts_with(word) && (!best || candidate.size() < best->size())) best = candidate;
  return best;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  std::optional<std::string> best = completed(word, candidates);
  if (best) return best;
  // Three edits in a long word are a typo; a short word becomes a different one. The dashes of an
  // option do not make it long.
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  std::size_t limit = letters < 4 ? letters / 3 : std::min<std::size_t>(3, letters / 3 + 1);
  for (const std::string& candidate : candidates) {
    // The minimum number of edits; a word may be as long as a file.
    if (std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size()) > limit)
      continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < limit || (distance == limit && !best)) {
      limit = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace dts
