// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/rewrite.hpp"

#include <algorithm>
#include <numeric>

namespace dts::convert {
namespace {

constexpr std::size_t k_none = static_cast<std::size_t>(-1);

int weight_of(Became became) {
  switch (became) {
    case Became::lost:
      return 0;
    case Became::fill_in:
      return 1;
    case Became::program:
      return 2;
    case Became::set_up:
      return 3;
    case Became::tear_down:
      return 4;
    case Became::option:
      return 5;
    case Became::unnecessary:
      break;
  }
  return 6;
}

// Gives each byte to the first row that asks for it.
class Claims {
 public:
  Claims(std::vector<Row>& rows, std::size_t size) : rows_(rows), owners_(size, k_none) {}

  void claim(std::size_t at) {
    Row& row = rows_[at];
    std::vector<Span> own;
    std::size_t other = k_none;
    for (const Span& span : row.spans)
      for (std::size_t i = span.begin; i < span.end; ++i) {
        if (owners_[i] != k_none) {
          other = owners_[i];
          continue;
        }
        owners_[i] = at;
        if (!own.empty() && own.back().end == i)
          ++own.back().end;
        else
          own.push_back({i, i + 1});
      }
    if (own.empty() && other != k_none) join(rows_[other], row);
    row.spans = std::move(own);
  }

 private:
  // The same bytes again, in another turn of a loop.
  static void join(Row& first, const Row& again) {
    const bool is_news = first.became == again.became && !again.why.empty() &&
                         first.why.find(again.why) == std::string::npos;
    if (is_news) first.why += (first.why.empty() ? "" : "; ") + again.why;
  }

  std::vector<Row>& rows_;
  std::vector<std::size_t> owners_;
};

}  // namespace

void Rewrite::keep(Span span) {
  span.end = std::min(span.end, from_.size());
  if (span.begin >= span.end) return;
  text_ += from_.substr(span.begin, span.end - span.begin);
  const std::size_t size = origins_.size();
  origins_.resize(size + span.end - span.begin);
  std::iota(origins_.begin() + static_cast<std::ptrdiff_t>(size), origins_.end(), span.begin);
}

void Rewrite::insert(std::string_view text) {
  text_ += text;
  origins_.resize(text_.size(), k_none);
}

std::vector<Span> Rewrite::origin_of(const Span& span) const {
  std::vector<std::size_t> places;
  for (std::size_t i = span.begin; i < std::min(span.end, origins_.size()); ++i) {
    if (origins_[i] == k_none) continue;
    places.push_back(origins_[i]);
    for (std::size_t next = origins_[i] + 1; dropped_.count(next) > 0; ++next)
      places.push_back(next);
  }
  std::sort(places.begin(), places.end());
  std::vector<Span> spans;
  for (const std::size_t place : places) {
    if (!spans.empty() && place < spans.back().end) continue;
    if (!spans.empty() && spans.back().end == place)
      ++spans.back().end;
    else
      spans.push_back({place, place + 1});
  }
  return spans;
}

Span Rewrite::line_behind(std::size_t at) const {
  const auto is_kept = [this](std::size_t i) {
    return origins_[i] != k_none && std::string_view(" \t\n").find(text_[i]) == std::string::npos;
  };
  while (at < text_.size() && !is_kept(at)) ++at;
  return {at, std::min(text_.find('\n', at), text_.size())};
}

std::vector<Row> Rewrite::rows_of(const std::vector<Row>& rows,
                                  const std::vector<Row>& more) const {
  std::vector<Row> all;
  for (const Row& row : rows) {
    all.push_back(row);
    all.back().spans.clear();
    for (const Span& span : row.spans)
      for (const Span& origin : origin_of(span)) all.back().spans.push_back(origin);
    if (all.back().spans.empty() && row.became == Became::lost && !row.spans.empty())
      all.back().spans = origin_of(line_behind(row.spans.back().end));
  }
  all.insert(all.end(), more.begin(), more.end());
  std::stable_sort(all.begin(), all.end(), [](const Row& a, const Row& b) {
    return weight_of(a.became) < weight_of(b.became);
  });
  Claims claims(all, from_.size());
  for (std::size_t i = 0; i < all.size(); ++i) claims.claim(i);
  std::erase_if(all, [](const Row& row) { return row.spans.empty(); });
  for (Row& row : all)
    std::sort(row.spans.begin(), row.spans.end(), [](const Span& a, const Span& b) {
      return a.begin < b.begin;
    });
  return all;
}

}  // namespace dts::convert
