// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/shown_lines.hpp"

#include "core/base/text/text.hpp"
#include "core/run/summary/evidence.hpp"
#include "core/run/summary/progress_bar.hpp"

#include <string_view>

namespace dts::run {
namespace {

bool is_telling(const std::string& text) {
  return is_error(text) || read_evidence({text}).has_value();
}

// Where the traceback begins behind a bar of another form, with PyTorch's "[rank3]: " before it;
// 0: nowhere.
std::size_t traceback_in(std::string_view text) {
  const std::size_t begin = text.find("Traceback (most recent call last):");
  if (begin == std::string_view::npos) return 0;
  if (!text.substr(0, begin).ends_with("]: ")) return begin;
  const std::size_t rank = text.rfind("[rank", begin);
  return rank == std::string_view::npos ? begin : rank;
}

// What remains of a line with carriage returns.
void add_overwritten(std::vector<std::string>& shown, const std::string& line) {
  std::vector<std::string> states = split(line, '\r');
  while (states.size() > 1 && trim(states.back()).empty()) states.pop_back();
  for (const std::string& state : states) {
    const bool is_last = &state == &states.back();
    std::size_t bar = length_of_bar(state);
    if (bar == 0) bar = traceback_in(state);
    if (is_last && bar > 0) shown.push_back(state.substr(0, bar));
    const std::string behind = state.substr(bar);
    if (is_telling(behind) || (is_last && (bar == 0 || !trim(behind).empty())))
      shown.push_back(behind);
  }
}

}  // namespace

std::vector<std::string> shown_lines(const std::vector<std::string>& lines) {
  std::vector<std::string> shown;
  shown.reserve(lines.size());
  for (const std::string& line : lines) {
    if (line.find('\r') == std::string::npos)
      shown.push_back(line);
    else
      add_overwritten(shown, line);
  }
  return shown;
}

}  // namespace dts::run
