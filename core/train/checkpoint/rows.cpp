// SPDX-License-Identifier: Apache-2.0
// Divides the state into shares, and converts the order of columns.
#include "core/train/checkpoint/rows.hpp"

#include <algorithm>

namespace dts::train {
namespace {

constexpr std::size_t k_lanes = 16;  // channels of a block

void append_rows(std::vector<Rows>& rows,
                 const std::string& prefix,
                 Rows::Array array,
                 const std::vector<Tensor>& tensors,
                 std::size_t moment = 0) {
  for (const Tensor& tensor : tensors)
    rows.push_back({prefix + tensor.name,
                    array,
                    &tensor,
                    0,
                    static_cast<std::size_t>(tensor.shape.front()),
                    moment});
}

template <class AnyState>
auto& buffer_of(AnyState& state, Rows::Array array) {
  switch (array) {
    case Rows::Array::weights:
      return state.weights;
    case Rows::Array::momentum:
      return state.momentum;
    case Rows::Array::running:
      return state.running;
    case Rows::Array::ballast:
      break;
  }
  return state.ballast;
}

// The first float of the rows in their buffer.
template <class AnyState>
auto* begin_of(AnyState& state, const Rows& rows) {
  return buffer_of(state, rows.array).data() + rows.moment * state.weights.size() +
         rows.range().begin;
}

// PyTorch's index of a column whose index here is `blocked`.
std::size_t plain_column(std::size_t blocked, std::size_t pixels) {
  const std::size_t lane = blocked % k_lanes;
  const std::size_t pixel = blocked / k_lanes % pixels;
  const std::size_t block = blocked / k_lanes / pixels;
  return (block * k_lanes + lane) * pixels + pixel;
}

// The beginning of a share: the row that contains its first byte.
struct Cut {
  std::size_t tensor = 0;
  std::size_t row = 0;
};

Cut cut_at(const std::vector<Rows>& all, std::size_t floats) {
  Cut cut;
  for (; cut.tensor < all.size(); ++cut.tensor) {
    const Rows& rows = all[cut.tensor];
    if (floats < rows.floats()) {
      cut.row = floats / rows.row_floats();
      return cut;
    }
    floats -= rows.floats();
  }
  return cut;
}

}  // namespace

std::vector<std::size_t> Rows::shape() const {
  std::vector<std::size_t> shape(tensor->shape.begin(), tensor->shape.end());
  shape.front() = count;
  return shape;
}

std::vector<Rows> all_rows(const Layout& layout) {
  std::vector<Rows> rows;
  append_rows(rows, "model.", Rows::Array::weights, layout.parameters);
  for (std::size_t moment = 0; moment < layout.moments.size(); ++moment)
    append_rows(
        rows, layout.moments[moment] + ".", Rows::Array::momentum, layout.parameters, moment);
  append_rows(rows, "running.", Rows::Array::running, layout.statistics);
  append_rows(rows, "", Rows::Array::ballast, layout.ballast);
  return rows;
}

std::vector<Rows> share_of(const Layout& layout, int parts, int part) {
  const std::vector<Rows> all = all_rows(layout);
  std::size_t floats = 0;
  for (const Rows& rows : all) floats += rows.floats();
  const auto boundary = [&](int index) {
    const auto n = static_cast<std::size_t>(parts);
    const auto i = static_cast<std::size_t>(index);
    return cut_at(all, floats / n * i + floats % n * i / n);
  };
  const Cut begin = boundary(part);
  const Cut end = boundary(part + 1);
  std::vector<Rows> share;
  for (std::size_t i = begin.tensor; i < all.size() && i <= end.tensor; ++i) {
    Rows rows = all[i];
    const std::size_t last = i == end.tensor ? end.row : rows.count;
    rows.first = i == begin.tensor ? begin.row : 0;
    rows.count = last - rows.first;
    if (rows.count > 0) share.push_back(std::move(rows));
  }
  return share;
}

Shares::Shares(const Layout& layout, int parts)
    : ranges_(static_cast<std::size_t>(parts), std::vector<Range>(1 + layout.moments.size())) {
  for (int part = 0; part < parts; ++part)
    for (const Rows& rows : share_of(layout, parts, part)) {
      const bool is_moment = rows.array == Rows::Array::momentum;
      if (!is_moment && rows.array != Rows::Array::weights) continue;
      Range& range = ranges_[static_cast<std::size_t>(part)][is_moment ? 1 + rows.moment : 0];
      if (range.end == 0) range.begin = rows.range().begin;
      range.end = rows.range().end;
    }
}

void copy_out(const State& state, const Rows& rows, float* to) {
  copy_out(begin_of(state, rows), rows.range(), rows, to);
}

void copy_out(const float* from, Range run, const Rows& rows, float* to) {
  const Range whole = rows.range();
  const std::size_t begin = std::max(run.begin, whole.begin);
  const std::size_t end = std::min(run.end, whole.end);
  if (begin >= end) return;
  from += begin - run.begin;
  const auto pixels = static_cast<std::size_t>(rows.tensor->pixels);
  if (pixels == 0) {
    std::copy_n(from, end - begin, to + (begin - whole.begin));
    return;
  }
  const std::size_t columns = rows.row_floats();
  for (std::size_t at = begin - whole.begin; at < end - whole.begin; ++at) {
    const std::size_t column = at % columns;
    to[at - column + plain_column(column, pixels)] = *from++;
  }
}

void copy_in(const float* from, ColumnOrder order, const Rows& rows, State& state) {
  const std::size_t columns = rows.row_floats();
  float* const to = begin_of(state, rows);
  const auto pixels = static_cast<std::size_t>(rows.tensor->pixels);
  if (pixels == 0 || order == ColumnOrder::internal) {
    std::copy_n(from, rows.floats(), to);
    return;
  }
  for (std::size_t row = 0; row < rows.count; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      to[row * columns + column] = from[row * columns + plain_column(column, pixels)];
}

}  // namespace dts::train
