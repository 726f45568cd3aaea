// SPDX-License-Identifier: Apache-2.0
#include "core/train/loop/not_finite.hpp"

#include <algorithm>
#include <cmath>

namespace dts::train {
namespace {

bool are_finite(const float* values, std::size_t count) {
  return std::all_of(values, values + count, [](float value) { return std::isfinite(value); });
}

}  // namespace

std::optional<std::string> first_not_finite_of_tail(const Layout& layout, const float* tail) {
  for (const Tensor& one : layout.statistics)
    if (!are_finite(tail + one.offset, one.count)) return "the batch's " + one.name;
  if (!std::isfinite(tail[layout.scalar(Scalar::loss) - layout.parameter_floats]))
    return "the loss";
  return std::nullopt;
}

std::optional<std::string> first_not_finite(const Layout& layout, const float* sums) {
  if (auto found = first_not_finite_of_tail(layout, sums + layout.parameter_floats)) return found;
  for (auto one = layout.parameters.rbegin(); one != layout.parameters.rend(); ++one)
    if (!are_finite(sums + one->offset, one->count)) return "the gradient of " + one->name;
  return std::nullopt;
}

std::optional<NotFinite> find_not_finite(Backend& backend, const StepInput& input, Span run) {
  for (int shard = run.lo; shard < run.hi; ++shard) {
    const Partials one = backend.sum(input, {shard, shard + 1});
    if (auto what = first_not_finite(backend.layout(), one.begin()->second))
      return NotFinite{shard, *std::move(what)};
  }
  return std::nullopt;
}

}  // namespace dts::train
