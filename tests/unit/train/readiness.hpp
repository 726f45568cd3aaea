// SPDX-License-Identifier: Apache-2.0
// Checks that a network announces each range of gradients exactly once, when it is final.
#pragma once

#include "core/train/model/network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace dts::train {

inline void check_readiness(const Model& model,
                            const Samples& samples,
                            const std::vector<std::size_t>& indices) {
  CAPTURE(model.name);
  CAPTURE(model.sizes);
  Buffer weights(model.layout.parameter_floats);
  initial_weights(model.layout, 1, weights.data());
  Buffer sums(model.layout.sum_floats());
  Buffer announced(model.layout.parameter_floats);
  std::vector<Range> ranges;
  auto network = Network::create(model, static_cast<int>(indices.size()));
  REQUIRE(network);
  (*network)->prepare(weights.data());
  const auto ready = [&](Range range) {
    ranges.push_back(range);
    std::copy(sums.data() + range.begin, sums.data() + range.end, announced.data() + range.begin);
  };
  (*network)->train(samples, indices, {weights.data(), {}, false, ready}, sums.data());
  CHECK(std::equal(announced.data(), announced.data() + announced.size(), sums.data()));
  std::sort(ranges.begin(), ranges.end());
  std::size_t at = 0;
  for (const Range& range : ranges) {
    CHECK(range.begin == at);
    at = range.end;
  }
  CHECK(at == model.layout.parameter_floats);
}

}  // namespace dts::train
