// SPDX-License-Identifier: Apache-2.0
// Buffers as a network would hand them to one block.
#pragma once

#include "core/train/memory/buffer.hpp"
#include "core/train/model/blocks.hpp"
#include "tests/unit/train/reference.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace dts::train {

struct Activation {
  Buffer value;
  Buffer gradient;

  explicit Activation(std::size_t count) : value(count), gradient(count) {}

  Edge edge() { return {value.data(), gradient.data()}; }
};

struct Bench {
  Layout layout;
  Buffer weights{layout.parameter_floats};
  Buffer sums{layout.sum_floats()};
  Pass pass{true, weights.data(), nullptr, sums.data()};

  explicit Bench(Layout of) : layout(std::move(of)) {}

  void set(const std::string& name, const reference::Values& values) {
    std::copy(values.begin(), values.end(), weights.data() + layout.parameter(name).offset);
  }

  [[nodiscard]] const float* gradient(const std::string& name) const {
    return sums.data() + layout.parameter(name).offset;
  }

  // Forward and backward with d_out = the objective's weights.
  void run(Block& block, Activation& out, const reference::Values& objective) {
    std::copy(objective.begin(), objective.end(), out.gradient.data());
    block.prepare(weights.data());
    block.forward(pass);
    block.backward(pass);
  }
};

inline void fill(Buffer& buffer, const reference::Values& values) {
  std::copy(values.begin(), values.end(), buffer.data());
}

}  // namespace dts::train
