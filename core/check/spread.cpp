// SPDX-License-Identifier: Apache-2.0
#include "core/check/spread.hpp"

#include <algorithm>
#include <cmath>

namespace dts::check {
namespace {

constexpr std::size_t k_many = 64;

Spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  Spread spread{values.size(), median(values), {}};
  for (const double value : values) spread.distances.push_back(std::fabs(value - spread.centre));
  std::sort(spread.distances.begin(), spread.distances.end());
  spread.distances.erase(spread.distances.begin());
  // The median of two is their mean, half as far from each as they are from each other.
  if (values.size() == 2) spread.distances.front() *= std::sqrt(2.0);
  return spread;
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double noise_limit(std::vector<double> distances, double deviations) {
  if (distances.empty()) return 0;
  const double uncertainty = 1 + 16 / static_cast<double>(distances.size());
  // The lower of two middle ones: of four nodes, one at fault has half of the pairs.
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>((distances.size() - 1) / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return deviations * uncertainty * 1.4826 * *middle;
}

Sample::Sample(std::vector<double> values) : values_(std::move(values)) {
  if (values_.size() > k_many) whole_ = spread_of(values_);
}

Spread Sample::without(std::size_t index) const {
  if (whole_) return {whole_->peers - 1, whole_->centre, whole_->distances};
  std::vector<double> others = values_;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(index));
  return spread_of(others);
}

}  // namespace dts::check
