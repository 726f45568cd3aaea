// SPDX-License-Identifier: Apache-2.0
#include "core/convert/job/account.hpp"

#include "core/base/text/names.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr std::string_view k_blank = " \t\r\v\f;\\";  // a backslash alone continues nothing

// The bytes that no row and no comment covers are left; all others become blanks.
std::string uncovered(std::string_view text,
                      const std::vector<Row>& rows,
                      const std::vector<Span>& comments) {
  std::string rest(text);
  const auto cover = [&rest](const Span& span) {
    for (std::size_t i = span.begin; i < std::min(span.end, rest.size()); ++i)
      if (rest[i] != '\n') rest[i] = ' ';
  };
  for (const Row& row : rows) std::for_each(row.spans.begin(), row.spans.end(), cover);
  std::for_each(comments.begin(), comments.end(), cover);
  return rest;
}

// A byte is in one row: what an earlier row has is taken out of later ones.
void separate(std::vector<Row>& rows, std::size_t size) {
  std::vector<bool> is_covered(size);
  for (Row& row : rows) {
    std::vector<Span> own;
    for (const Span& span : row.spans)
      for (std::size_t i = span.begin; i < std::min(span.end, size); ++i) {
        if (is_covered[i]) continue;
        is_covered[i] = true;
        if (!own.empty() && own.back().end == i)
          ++own.back().end;
        else
          own.push_back({i, i + 1});
      }
    row.spans = std::move(own);
  }
  std::erase_if(rows, [](const Row& row) { return row.spans.empty(); });
}

void sort_by_place(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.spans.front().begin < b.spans.front().begin;
  });
}

}  // namespace

const char* to_string(Became became) {
  constexpr dts::Names<Became, 7> k_words{{{Became::option, "option"},
                                           {Became::set_up, "set-up"},
                                           {Became::program, "program"},
                                           {Became::fill_in, "fill-in"},
                                           {Became::tear_down, "tear-down"},
                                           {Became::unnecessary, "unnecessary"},
                                           {Became::lost, "lost"}}};
  return dts::name_of(k_words, became);
}

void complete(std::vector<Row>& rows,
              std::string_view text,
              const std::vector<Span>& comments,
              const std::string& why) {
  std::erase_if(rows, [](const Row& row) { return row.spans.empty(); });
  sort_by_place(rows);
  const std::string rest = uncovered(text, rows, comments);
  for (std::size_t begin = 0; begin < rest.size();) {
    const std::size_t end = std::min(rest.find('\n', begin), rest.size());
    const std::string_view line = std::string_view(rest).substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(k_blank);
    if (first != std::string_view::npos) {
      const std::size_t last = line.find_last_not_of(k_blank);
      rows.push_back({{{begin + first, begin + last + 1}}, Became::lost, "", why});
    }
    begin = end + 1;
  }
  separate(rows, text.size());
  sort_by_place(rows);
}

std::vector<std::size_t> lines_to_account(std::string_view text,
                                          const std::vector<Span>& comments,
                                          std::size_t header_end) {
  std::vector<std::size_t> lines;
  const std::string rest = uncovered(text, {}, comments);
  std::size_t number = 1;
  for (std::size_t begin = 0; begin < rest.size(); ++number) {
    const std::size_t end = std::min(rest.find('\n', begin), rest.size());
    const bool is_directive = begin < header_end && text.substr(begin).starts_with("#SBATCH");
    const std::string_view line = std::string_view(rest).substr(begin, end - begin);
    if (is_directive || line.find_first_not_of(k_blank) != std::string_view::npos)
      lines.push_back(number);
    begin = end + 1;
  }
  return lines;
}

}  // namespace dts::convert
