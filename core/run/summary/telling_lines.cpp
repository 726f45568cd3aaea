// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/telling_lines.hpp"

#include "core/run/summary/evidence.hpp"
#include "core/run/summary/raised_error.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace dts::run {
namespace {

using Lines = std::vector<std::string>;
using Place = Lines::const_iterator;

bool has(const std::string& line, std::string_view words) {
  return line.find(words) != std::string::npos;
}

// The last line between `begin` and `end` with these words; `end` if there is none. Lines may begin
// with a time or a prefix.
Place last_with(Place begin, Place end, std::string_view words) {
  for (Place at = end; at != begin;)
    if (has(*--at, words)) return at;
  return end;
}

// "[rank3]:", with which PyTorch begins the lines of a worker's traceback; empty: not known.
std::string prefix_of_worker(Place begin, Place end) {
  constexpr std::string_view k_rank = "rank      : ";
  const Place line = last_with(begin, end, k_rank);
  if (line == end) return {};
  const std::size_t from = line->find(k_rank) + k_rank.size();
  const std::string digits = line->substr(from, line->find_first_not_of("0123456789", from) - from);
  return digits.empty() ? std::string() : "[rank" + digits + "]:";
}

// The words of a program that ran, and failed, after torchrun; not what torchrun's caller says
// about torchrun's exit code.
Lines error_after(Place root, Place end) {
  Place report_end = std::find_if(
      root, end, [](const std::string& line) { return line.find("=====") != std::string::npos; });
  const auto is_own = [](const std::string& line) {
    return is_error(line) && !has(line, "CalledProcessError") && !has(line, "exit status");
  };
  return std::any_of(report_end, end, is_own) ? Lines(std::next(report_end), end) : Lines();
}

void keep_last(Lines& lines, std::size_t most) {
  if (lines.size() > most)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
}

}  // namespace

std::vector<std::string> telling_lines(const std::vector<std::string>& lines, std::size_t most) {
  const Place root = last_with(lines.begin(), lines.end(), "Root Cause (first observed failure):");
  Place report = last_with(lines.begin(), root, "ChildFailedError");
  if (root == lines.end() || report == root) report = lines.end();
  report = report == lines.end()
               ? report
               : last_with(lines.begin(), report, "Traceback (most recent call last):");
  Lines found(lines.begin(), report);
  if (report != lines.end()) {
    const std::string prefix = prefix_of_worker(root, lines.end());
    const auto is_workers = [&](const std::string& line) { return has(line, prefix); };
    if (std::any_of(found.begin(), found.end(), is_workers))
      std::erase_if(found, [&](const std::string& line) { return !is_workers(line); });
    const Place killed = last_with(root, lines.end(), "traceback : Signal ");
    if (killed != lines.end()) found.push_back(*killed);
  }
  if (const auto raised = raised_error(found); raised && raised->is_followed)
    found.resize(raised->end);
  Lines later = report == lines.end() ? Lines() : error_after(root, lines.end());
  keep_last(later, most / 2);
  keep_last(found, most - later.size());
  found.insert(found.end(), later.begin(), later.end());
  return found;
}

}  // namespace dts::run
