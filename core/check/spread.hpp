// SPDX-License-Identifier: Apache-2.0
// The centre and the noise of a value's peers, robust against some that are far off. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace dts::check {

// Of at least one value; the mean of the middle two if their number is even.
[[nodiscard]] double median(std::vector<double> values);

// The standard deviation that `distances` speak for (MAD: 1.4826 times their lower median), times
// `deviations`, times 1 + 16 / N, since an estimate from few is uncertain: so chosen that
// 15,000 generated clusters of 3 to 17 nodes raise no alarm. 0 for none.
[[nodiscard]] double noise_limit(std::vector<double> distances, double deviations);

// One measure of all peers, as logarithms. A value's peers are all others, so that an outlier does
// not widen its own limits; in a sample of more than 64, one value does not matter, and all are
// taken, so that judging each of N values takes O(N) in all.
class Sample {
 public:
  explicit Sample(std::vector<double> values);

  [[nodiscard]] std::size_t size() const { return values_.size(); }

  [[nodiscard]] std::size_t peers() const { return values_.empty() ? 0 : values_.size() - 1; }

  [[nodiscard]] bool is_large() const;

  // The median of the peers of the value at `index`; 0 without any.
  [[nodiscard]] double centre(std::size_t index) const;

  // The peers' distances from it but the smallest, which the median itself makes small: those of
  // normal values have the median 0.6745 sigma then, however few they are (by simulation, within
  // 2 %).
  [[nodiscard]] std::vector<double> distances(std::size_t index) const;

 private:
  std::vector<double> values_;
  double centre_ = 0;  // of all, if it is large
};

// What noise can do to a value, as estimated from several samples together. Keeps what it has
// worked out for large samples: not thread-safe, and the samples must live longer.
class JointNoise {
 public:
  struct Member {
    const Sample* sample = nullptr;
    std::size_t index = 0;  // of the value, which does not count
  };

  explicit JointNoise(double deviations) : deviations_(deviations) {}

  // noise_limit() of the distances of all members.
  [[nodiscard]] double limit(const std::vector<Member>& members);

 private:
  double deviations_;
  std::map<std::vector<const Sample*>, double> known_;
};

}  // namespace dts::check
