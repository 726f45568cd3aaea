// SPDX-License-Identifier: Apache-2.0
#include "core/convert/known/sequence.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/known/known.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

using Number = std::int64_t;

// From `first` to `last`, each with at least `width` digits.
std::optional<std::vector<std::string>> numbers(Number first,
                                                Number step,
                                                Number last,
                                                std::size_t width) {
  if (step == 0) return std::nullopt;
  std::vector<std::string> all;
  for (Number i = first; step > 0 ? i <= last : i >= last; i += step) {
    if (all.size() >= k_most_turns) return std::nullopt;
    std::string one = std::to_string(i);
    if (i >= 0 && one.size() < width) one.insert(0, width - one.size(), '0');
    all.push_back(std::move(one));
  }
  return all;
}

std::optional<Number> small_number(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  const auto value = parse_number(text.substr(is_negative ? 1 : 0));
  if (!value || *value > 1'000'000'000) return std::nullopt;
  return is_negative ? -static_cast<Number>(*value) : static_cast<Number>(*value);
}

// "i < 4", "i<=$N": the last value.
std::optional<Number> last_of(std::string_view text, const std::string& name, const Known& known) {
  text = trim(text);
  if (!text.starts_with(name)) return std::nullopt;
  text = trim(text.substr(name.size()));
  if (!text.starts_with('<')) return std::nullopt;
  const bool is_included = text.starts_with("<=");
  const auto value = known.number(trim(text.substr(is_included ? 2 : 1)));
  if (!value) return std::nullopt;
  return is_included ? *value : *value - 1;
}

}  // namespace

bool is_range(std::string_view text) {
  return text.starts_with('{') && text.ends_with('}') &&
         text.find("..") != std::string_view::npos && text.find(',') == std::string_view::npos;
}

bool add_range(std::string_view text, std::vector<std::string>& words) {
  const std::string inside(text.substr(1, text.size() - 2));
  const std::size_t dots = inside.find("..");
  const std::string rest = inside.substr(dots + 2);
  const std::size_t more = rest.find("..");
  const std::string begin = inside.substr(0, dots);
  const std::string end = rest.substr(0, more);
  const auto first = small_number(begin);
  const auto last = small_number(end);
  const auto step =
      more == std::string::npos ? std::optional<Number>(1) : small_number(rest.substr(more + 2));
  if (!first || !last || !step || *step <= 0) return false;
  const bool is_padded = (begin.size() > 1 && begin[0] == '0') || (end.size() > 1 && end[0] == '0');
  const auto all = numbers(*first,
                           *first <= *last ? *step : -*step,
                           *last,
                           is_padded ? std::max(begin.size(), end.size()) : 0);
  if (!all) return false;
  words.insert(words.end(), all->begin(), all->end());
  return true;
}

std::optional<std::vector<std::string>> sequence_of(const shell::Piece& substitution,
                                                    const Known& known) {
  const shell::Command* command =
      substitution.commands.size() == 1 ? simple_command(substitution.commands[0]) : nullptr;
  if (command == nullptr || first_word(*command) != "seq" || !command->redirections.empty() ||
      !command->assignments.empty())
    return std::nullopt;
  std::vector<std::string> texts;
  bool is_padded = false;
  for (std::size_t i = 1; i < command->words.size(); ++i) {
    const KnownText value = known.text(command->words[i]);
    if (!value.is_exact()) return std::nullopt;
    if (i == 1 && value.text == "-w")
      is_padded = true;
    else
      texts.push_back(value.text);
  }
  if (texts.empty() || texts.size() > 3) return std::nullopt;
  std::vector<Number> all;
  std::size_t width = 0;
  for (const std::string& text : texts) {
    const auto value = small_number(text);
    if (!value) return std::nullopt;
    all.push_back(*value);
  }
  if (is_padded) width = std::max(texts.front().size(), texts.back().size());
  return numbers(all.size() > 1 ? all[0] : 1, all.size() > 2 ? all[1] : 1, all.back(), width);
}

std::optional<std::pair<std::string, std::vector<std::string>>> counted_turns(
    std::string_view expression, const Known& known) {
  const auto parts = split(std::string(expression), ';');
  if (parts.size() != 3) return std::nullopt;
  const std::size_t equals = parts[0].find('=');
  if (equals == std::string::npos) return std::nullopt;
  const std::string name(trim(std::string_view(parts[0]).substr(0, equals)));
  const auto first = known.number(trim(std::string_view(parts[0]).substr(equals + 1)));
  const auto last = last_of(parts[1], name, known);
  const std::string_view turn = trim(parts[2]);
  const bool counts_up = turn == name + "++" || turn == "++" + name;
  if (name.empty() || !first || !last || !counts_up) return std::nullopt;
  auto values = numbers(*first, 1, *last, 0);
  if (!values) return std::nullopt;
  return std::pair{name, std::move(*values)};
}

}  // namespace dts::convert
