// SPDX-License-Identifier: Apache-2.0
#include "core/check/spread.hpp"

#include <algorithm>
#include <cmath>

namespace dts::check {
namespace {

constexpr std::size_t k_many = 64;

std::vector<double> distances_from(double centre, const std::vector<double>& values) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::fabs(value - centre));
  if (distances.empty()) return distances;
  std::sort(distances.begin(), distances.end());
  distances.erase(distances.begin());
  // The median of two values is their mean: each is half as far from it as from the other.
  if (values.size() == 2) distances.front() *= std::sqrt(2.0);
  return distances;
}

std::vector<double> all_but(std::vector<double> values, std::size_t index) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(index));
  return values;
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
  // The lower of the two in the middle: with four nodes, one at fault affects half of the pairs.
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>((distances.size() - 1) / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return deviations * uncertainty * 1.4826 * *middle;
}

Sample::Sample(std::vector<double> values) : values_(std::move(values)) {
  if (is_large()) centre_ = median(values_);
}

bool Sample::is_large() const {
  return values_.size() > k_many;
}

double Sample::centre(std::size_t index) const {
  if (is_large()) return centre_;
  std::vector<double> others = all_but(values_, index);
  return others.empty() ? 0 : median(std::move(others));
}

std::vector<double> Sample::distances(std::size_t index) const {
  return is_large() ? distances_from(centre_, values_)
                    : distances_from(centre(index), all_but(values_, index));
}

double JointNoise::limit(const std::vector<Member>& members) {
  const bool are_large = std::all_of(
      members.begin(), members.end(), [](const Member& one) { return one.sample->is_large(); });
  std::vector<const Sample*> samples;
  for (const Member& one : members) samples.push_back(one.sample);
  if (const auto known = known_.find(samples); are_large && known != known_.end())
    return known->second;
  std::vector<double> all;
  for (const Member& one : members) {
    const std::vector<double> distances = one.sample->distances(one.index);
    all.insert(all.end(), distances.begin(), distances.end());
  }
  const double limit = noise_limit(std::move(all), deviations_);
  if (are_large) known_.emplace(std::move(samples), limit);
  return limit;
}

}  // namespace dts::check
