// SPDX-License-Identifier: Apache-2.0
// The centre and the noise of a value's peers, robust against outliers. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace dts::check {

// The median of at least one value; the mean of the two in the middle if their number is even.
[[nodiscard]] double median(std::vector<double> values);

// How far noise can move a value: the standard deviation estimated from `distances` (MAD: 1.4826
// times their lower median), times `deviations`, times 1 + 16 / N because an estimate from few
// values is uncertain. The factor is chosen so that 15,000 generated clusters of 3 to 17 nodes
// raise no alarm. 0 if there are no distances.
[[nodiscard]] double noise_limit(std::vector<double> distances, double deviations);

// One measure of all peers, as logarithms. The peers of a value are all others, so that an outlier
// does not widen its own limits. In a sample of more than 64, a single value does not matter, so
// all values are used: then judging all N values takes O(N).
class Sample {
 public:
  explicit Sample(std::vector<double> values);

  [[nodiscard]] std::size_t size() const { return values_.size(); }

  [[nodiscard]] std::size_t peers() const { return values_.empty() ? 0 : values_.size() - 1; }

  [[nodiscard]] bool is_large() const;

  // The median of the peers of the value at `index`; 0 if there are none.
  [[nodiscard]] double centre(std::size_t index) const;

  // The peers' distances from this median, except the smallest, which is small because of the
  // median itself. Without it, the distances of normal values have the median 0.6745 sigma, however
  // few they are (by simulation, within 2 %).
  [[nodiscard]] std::vector<double> distances(std::size_t index) const;

 private:
  std::vector<double> values_;
  double centre_ = 0;  // of all values, if the sample is large
};

// The limit of what noise can do to a value, estimated from several samples together. Stores
// results for large samples: not thread-safe, and the samples must outlive it.
class JointNoise {
 public:
  struct Member {
    const Sample* sample = nullptr;
    std::size_t index = 0;  // of the value, which is excluded
  };

  explicit JointNoise(double deviations) : deviations_(deviations) {}

  // noise_limit() of the distances of all members.
  [[nodiscard]] double limit(const std::vector<Member>& members);

 private:
  double deviations_;
  std::map<std::vector<const Sample*>, double> known_;
};

}  // namespace dts::check
