// SPDX-License-Identifier: Apache-2.0
// What the first server learns about other ranks from the messages with gradients. Pure.
#pragma once

#include "core/train/model/layout.hpp"
#include "core/train/server/messages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dts::train {

class ReceivedSigns {
 public:
  explicit ReceivedSigns(std::size_t workers) : has_written_(workers) {}

  // Handles the sums that come with a gradient, [Layout::tail_floats()].
  void receive(std::size_t worker, const Layout& layout, const float* tail) {
    const auto at = [&](Scalar which) {
      return tail[layout.scalar(which) - layout.parameter_floats];
    };
    for (const auto& [sign, which] : k_signs)
      if (at(which) > 0) signs_ |= sign;
    has_written_[worker] = at(Scalar::writing) == 0;
  }

  // Whether any rank has an urgent sign; `own` has the first server's signs.
  [[nodiscard]] bool is_urgent(std::uint32_t own) const {
    return ((signs_ | own) & (k_stop_sign | k_error_sign | k_broken_sign)) != 0;
  }

  // Whether no rank is still writing its part of a checkpoint, according to its latest message.
  [[nodiscard]] bool all_have_written(std::uint32_t own) const {
    return (own & k_writing_sign) == 0 &&
           std::all_of(has_written_.begin(), has_written_.end(), [](bool has) { return has; });
  }

 private:
  std::uint32_t signs_ = 0;
  std::vector<bool> has_written_;  // by worker
};

}  // namespace dts::train
