// SPDX-License-Identifier: Apache-2.0
// Finds the bucket size, use of overlap and hierarchy with the fastest steps (--bucket-size auto):
// each combination is tried for some steps. They do not affect the bits of the result. Pure.
#pragma once

#include "core/base/median.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::train {

// How gradients travel.
struct BucketScheme {
  std::uint64_t bytes = 0;  // of a bucket; 0: all in one
  bool overlaps = false;
  bool node_first = false;  // within each node, then across

  bool operator==(const BucketScheme&) const = default;
};

class Tuner {
 public:
  static constexpr std::size_t k_steps = 4;  // per way; the first step does not count

  explicit Tuner(std::vector<BucketScheme> ways) : ways_(std::move(ways)), seconds_(ways_.size()) {}

  // The ways worth trying for `bytes` of gradients, at least one. `overlap` is the user's choice,
  // if any; without `node_first` both hierarchies are tried.
  [[nodiscard]] static std::vector<BucketScheme> candidates_for(
      std::uint64_t bytes, std::optional<bool> overlap, std::optional<bool> node_first = false) {
    std::vector<BucketScheme> ways;
    if (!overlap.value_or(false)) ways.push_back({0, false});
    for (const std::uint64_t size : {250000, 1000000, 4000000, 16000000})
      if (overlap.value_or(true) && size < bytes) ways.push_back({size, true});
    if (overlap == false && bytes > 4000000) ways.push_back({4000000, false});
    if (ways.empty()) ways.push_back({0, true});
    for (BucketScheme& way : ways) way.node_first = node_first.value_or(true);
    for (std::size_t i = 0, count = ways.size(); !node_first && i < count; ++i)
      ways.push_back({ways[i].bytes, ways[i].overlaps, false});
    return ways;
  }

  // The way for the next step.
  [[nodiscard]] const BucketScheme& way() const { return ways_[now_]; }

  // Records the time of that step. Returns true if the next step has another way, or all have been
  // tried.
  [[nodiscard]] bool record_time(double seconds) {
    seconds_[now_].push_back(seconds);
    if (seconds_[now_].size() < k_steps) return false;
    is_over_ = now_ + 1 == ways_.size();
    if (!is_over_) ++now_;
    return true;
  }

  [[nodiscard]] bool is_over() const { return is_over_; }

  [[nodiscard]] std::size_t fastest() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < ways_.size(); ++i)
      if (median(i) < median(best)) best = i;
    return best;
  }

  void choose(std::size_t way) { now_ = way; }

  // A row for each way, for users.
  [[nodiscard]] std::string table() const {
    std::string text = fmt::format(
        "  {:>11}  {:7}  {:9}  {}\n", "bytes", "overlap", "hierarchy", "seconds a step");
    for (std::size_t i = 0; i < ways_.size(); ++i)
      text += fmt::format("  {:>11}  {:7}  {:9}  {:.6f}{}\n",
                          ways_[i].bytes == 0 ? "whole" : std::to_string(ways_[i].bytes),
                          ways_[i].overlaps ? "on" : "off",
                          ways_[i].node_first ? "node" : "flat",
                          median(i),
                          i == now_ ? "  chosen" : "");
    return text;
  }

 private:
  [[nodiscard]] double median(std::size_t way) const {
    return dts::median(std::vector<double>(seconds_[way].begin() + 1, seconds_[way].end()));
  }

  std::vector<BucketScheme> ways_;
  std::vector<std::vector<double>> seconds_;
  std::size_t now_ = 0;
  bool is_over_ = false;
};

}  // namespace dts::train
