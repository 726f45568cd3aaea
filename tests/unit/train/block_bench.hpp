// SPDX-License-Identifier: Apache-2.0
// Buffers for a single block, as a network would provide them.
#pragma once

#include "core/train/memory/buffer.hpp"
#include "core/train/model/blocks.hpp"
#include "tests/unit/train/reference.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace dts::train {

inline void fill(Buffer& buffer, const reference::Values& values) {
  std::copy(values.begin(), values.end(), buffer.data());
}

struct Activation {
  reference::Values values;  // `value` in double precision, unless a test sets that itself
  Buffer value;
  Buffer gradient;

  explicit Activation(std::size_t count) : value(count), gradient(count) {}

  // With random values and a gradient of `before`.
  Activation(std::size_t count, std::uint64_t salt, float before = 0)
      : values(reference::random_values(count, salt)), value(count), gradient(count) {
    fill(value, values);
    std::fill_n(gradient.data(), count, before);
  }

  Edge edge() { return {value.data(), gradient.data()}; }
};

inline Layout layout_of(const std::vector<std::pair<std::string, std::vector<int>>>& parameters) {
  Layout layout;
  for (const auto& [name, shape] : parameters) layout.add_parameter({.name = name, .shape = shape});
  return layout;
}

struct Bench {
  Layout layout;
  Buffer weights{layout.parameter_floats};
  Buffer sums{layout.sum_floats()};
  Pass pass{true, weights.data(), nullptr, sums.data()};
  std::vector<reference::Values> values;  // of the parameters, if they are random

  explicit Bench(Layout of = {}) : layout(std::move(of)) {}

  // With random parameters.
  Bench(Layout of, std::uint64_t salt) : Bench(std::move(of)) {
    for (const Tensor& tensor : layout.parameters) {
      values.push_back(reference::random_values(tensor.count, ++salt));
      set(tensor.name, values.back());
    }
  }

  void set(const std::string& name, const reference::Values& to) {
    std::copy(to.begin(), to.end(), weights.data() + layout.parameter(name).offset);
  }

  [[nodiscard]] const float* gradient(const std::string& name) const {
    return sums.data() + layout.parameter(name).offset;
  }

  // Runs forward and backward, with d_out = the objective's weights.
  void run(Block& block, Activation& out, const reference::Values& objective) {
    std::copy(objective.begin(), objective.end(), out.gradient.data());
    block.prepare(weights.data());
    block.forward(pass);
    block.backward(pass);
  }
};

}  // namespace dts::train
