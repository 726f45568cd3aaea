// SPDX-License-Identifier: Apache-2.0
#include "tests/support/machine_lines.hpp"

#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace dts::tests {
namespace {

constexpr std::size_t k_deepest = 16;  // nesting of lines

std::vector<Word> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<Word> words;
  for (std::size_t at = line.find_first_not_of(' '); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    words.push_back({std::string(line.substr(at, end - at)), static_cast<int>(at) + 1});
    at = line.find_first_not_of(' ', end);
  }
  return words;
}

}  // namespace

void Problems::add(const Line& line, int column, std::string message, std::string hint) {
  all_.push_back({fmt::format("{}:{}:{}", file_, line.number, column),
                  std::move(message),
                  std::move(hint),
                  line.text,
                  column});
}

std::vector<Line> read_lines(std::string_view text, Problems& problems) {
  Line root;
  std::vector<Line*> open{&root};  // the line that may contain the next one, and those around it
  int number = 0;
  for (const std::string& one : split(text, '\n')) {
    Line line{one, ++number, words_of(one)};
    if (!is_printable(one)) {
      line.text.clear();
      problems.add(line, 1, "a tab or another control character");
      continue;
    }
    if (line.words.empty()) continue;
    const int column = line.words[0].column;
    while (open.size() > 1 && open.back()->words[0].column >= column) open.pop_back();
    const std::vector<Line>& beside = open.back()->below;
    if (open.size() == 1 && column != 1)
      problems.add(line, column, "indented, but below nothing");
    else if (!beside.empty() && beside.back().words[0].column != column)
      problems.add(line, column, "neither below the line before nor beside it");
    else if (open.size() > k_deepest)
      problems.add(line, column, "too deep");
    else
      open.push_back(&open.back()->below.emplace_back(std::move(line)));
  }
  return std::move(root.below);
}

const Word* Arguments::need(const char* what) {
  if (more()) return &line_.words[next_++];
  problems_.add(line_,
                static_cast<int>(line_.words.back().column + line_.words.back().text.size()),
                fmt::format("{} is missing", what));
  return nullptr;
}

bool Arguments::take(std::string_view word) {
  if (!more() || line_.words[next_].text != word) return false;
  ++next_;
  return true;
}

std::string Arguments::word(const char* what) {
  const Word* word = need(what);
  if (word == nullptr) return {};
  if (!is_safe_name(word->text)) wrong(fmt::format("`{}` is no name", word->text));
  return word->text;
}

std::optional<unsigned> Arguments::number(const char* what, unsigned most) {
  const Word* word = need(what);
  if (word == nullptr) return std::nullopt;
  const auto value = parse_number(word->text);
  if (value && *value <= most) return static_cast<unsigned>(*value);
  wrong(fmt::format("{} is a number up to {}, not `{}`", what, most, word->text));
  return std::nullopt;
}

unsigned Arguments::hexadecimal(const char* what, unsigned most) {
  const Word* word = need(what);
  if (word == nullptr) return 0;
  unsigned value = 0;
  const char* end = word->text.data() + word->text.size();
  const auto [stop, error] = std::from_chars(word->text.data(), end, value, 16);
  if (error == std::errc() && stop == end && value <= most) return value;
  wrong(fmt::format("`{}` is not {} up to {:x}", word->text, what, most));
  return 0;
}

std::uint64_t Arguments::size() {
  const Word* word = need("a size");
  if (word == nullptr) return 0;
  const std::string_view text = word->text;
  const std::size_t unit = std::string_view("KMGT").find(text.back());
  const auto value = parse_number(text.substr(0, text.size() - 1));
  if (text == "0") return 0;
  if (unit != std::string_view::npos && value && *value < 1U << 20)
    return *value << (10 * (unit + 1));
  wrong(fmt::format("`{}` is no size", text), "for example 512K, 32M, 64G");
  return 0;
}

std::vector<unsigned> Arguments::numbers(unsigned most) {
  const Word* word = need("a list of numbers");
  if (word == nullptr) return {};
  auto list = parse_number_list(word->text, most);
  if (list && !list->empty()) return *list;
  wrong(fmt::format("`{}` is no list of numbers up to {}", word->text, most), "for example 0-3,8");
  return {};
}

unsigned Arguments::times() {
  constexpr unsigned k_most = 1024;
  if (!more() || line_.words[next_].text[0] != 'x') return 1;
  const std::string& text = line_.words[next_++].text;
  const auto value = parse_number(std::string_view(text).substr(1));
  if (value && *value > 0 && *value <= k_most) return static_cast<unsigned>(*value);
  wrong(fmt::format("`{}` is not x1 to x{}", text, k_most));
  return 1;
}

// PCI Express Base Specification: GT/s per lane, times the share of bits that carry data.
double Arguments::link() {
  if (!more() || !line_.words[next_].text.starts_with("gen")) return 0;
  constexpr std::array k_lane{
      0.25, 0.5, 8 * 16.0 / 130, 16 * 16.0 / 130, 32 * 16.0 / 130, 64 * 16.0 / 130};
  const std::string& text = line_.words[next_++].text;
  const auto generation = parse_number(std::string_view(text).substr(3));
  if (!generation || *generation == 0 || *generation > k_lane.size()) {
    wrong(fmt::format("`{}` is not gen1 to gen{}", text, k_lane.size()));
    return 0;
  }
  if (!more() || line_.words[next_].text[0] != 'x')
    wrong("how many lanes?", "for example gen4 x16");
  return k_lane[*generation - 1] * times();
}

void Arguments::wrong(std::string message, std::string hint) {
  problems_.add(line_, line_.words[next_ - 1].column, std::move(message), std::move(hint));
}

void Arguments::unknown(const char* known) {
  if (!more()) {
    (void)need(known);
    return;
  }
  ++next_;
  wrong(fmt::format(
            "`{}` is nothing that `{}` has", line_.words[next_ - 1].text, line_.words[0].text),
        fmt::format("it may have: {}", known));
}

}  // namespace dts::tests
