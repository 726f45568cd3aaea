// SPDX-License-Identifier: Apache-2.0
#include "cli/output/convert.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/lint/place.hpp"
#include "core/lint/tokens.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace dts::cli {
namespace {

using convert::Became;
using convert::Row;

constexpr std::size_t k_longest_excerpt = 60;
constexpr std::size_t k_longest_reason = 600;

// The first line of the script's text that the row is about.
std::string excerpt(const Converted& converted, const Row& row) {
  const convert::Span& span = row.spans.front();
  const std::string_view all =
      std::string_view(converted.text).substr(span.begin, span.end - span.begin);
  std::string line =
      printable(lint::hide_tokens(trim(all.substr(0, all.find('\n')))), k_longest_excerpt);
  if (all.find('\n') != std::string_view::npos && !line.ends_with("...")) line += " ...";
  return line;
}

std::string lines_of(const Converted& converted, const Row& row) {
  const std::size_t first = lint::place_at(converted.text, row.spans.front().begin).line;
  const std::size_t last =
      lint::place_at(converted.text, std::max(row.spans.back().end, std::size_t{1}) - 1).line;
  return first >= last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string words_of(const Row& row) {
  std::string words = row.what;
  if (!words.empty() && !row.why.empty()) words += "; ";
  return printable(lint::hide_tokens(words + row.why), k_longest_reason);
}

}  // namespace

std::string account_text(const Converted& converted, bool in_colour) {
  std::string text;
  std::map<Became, std::size_t> counts;
  for (const Row& row : converted.made.rows) {
    ++counts[row.became];
    const bool is_lost = row.became == Became::lost;
    const std::string words = words_of(row);
    text += fmt::format("{}:{}: {}{}{}: {}\n",
                        converted.path,
                        lines_of(converted, row),
                        is_lost && in_colour ? "\033[1;31m" : "",
                        convert::to_string(row.became),
                        is_lost && in_colour ? "\033[0m" : "",
                        excerpt(converted, row));
    if (!words.empty()) text += fmt::format("    {}\n", words);
  }
  for (const std::string& one : converted.made.general)
    text += fmt::format("{}: lost: {}\n", converted.path, printable(one, k_longest_reason));
  if (converted.comparison) {
    for (const std::string& one : converted.comparison->differences)
      text += fmt::format("{}: Slurm sees a difference: {}\n", converted.path, one);
    for (const std::string& one : converted.comparison->notes)
      text += fmt::format("{}: {}\n", converted.path, one);
  }
  for (const lint::Token& token : lint::find_tokens(converted.text))
    text += fmt::format(
        "{}:{}: warning: {}; revoke it, keep the new one in a file of mode 0600, and read that "
        "file\n",
        converted.path,
        lint::place_at(converted.text, token.begin).line,
        token.what);
  std::vector<std::string> sums;
  for (const auto& [became, count] : counts)
    sums.push_back(fmt::format("{} {}", count, convert::to_string(became)));
  text += fmt::format("{}: {}{}\n",
                      converted.path,
                      sums.empty() ? "nothing to convert" : join(sums, ", "),
                      !converted.made.is_lossless() ? ""
                      : counts[Became::fill_in] == 0
                          ? "; nothing is lost"
                          : "; nothing is lost, but blanks must be filled in");
  return text;
}

std::string job_file_text(const Converted& converted) {
  const convert::Conversion& made = converted.made;
  if (made.job_file.empty() || made.is_lossless()) return made.job_file;
  std::string head = fmt::format("# Not everything in {} was converted. Check before you submit:\n",
                                 printable(converted.path, k_longest_excerpt));
  for (const Row& row : made.rows)
    if (row.became == Became::lost)
      head += fmt::format(
          "# line {}: {}: {}\n", lines_of(converted, row), excerpt(converted, row), words_of(row));
  for (const std::string& one : made.general)
    head += fmt::format("# {}\n", printable(one, k_longest_reason));
  return head + "\n" + made.job_file;
}

std::string account_json(const Converted& converted) {
  using json = nlohmann::ordered_json;
  json rows = json::array();
  for (const Row& row : converted.made.rows) {
    json spans = json::array();
    for (const convert::Span& span : row.spans) {
      const lint::Place begin = lint::place_at(converted.text, span.begin);
      const lint::Place end = lint::place_at(converted.text, span.end);
      spans.push_back({{"line", begin.line},
                       {"column", begin.column},
                       {"end_line", end.line},
                       {"end_column", end.column}});
    }
    rows.push_back({{"places", std::move(spans)},
                    {"became", convert::to_string(row.became)},
                    {"what", lint::hide_tokens(row.what)},
                    {"why", lint::hide_tokens(row.why)}});
  }
  json document{{"schema", "dtsubmit/convert/1"},
                {"script", converted.path},
                {"lossless", converted.made.is_lossless()},
                {"job_file", job_file_text(converted)},
                {"lines", std::move(rows)},
                {"general", converted.made.general},
                {"needs", converted.made.needs}};
  if (converted.comparison)
    document["test"] = {{"differences", converted.comparison->differences},
                        {"notes", converted.comparison->notes}};
  return json_text(document);
}

}  // namespace dts::cli
