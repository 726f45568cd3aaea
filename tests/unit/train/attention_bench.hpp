// SPDX-License-Identifier: Apache-2.0
// Attention on random queries, keys and values in separate arrays.
#pragma once

#include "core/train/model/token_blocks.hpp"
#include "tests/unit/train/block_bench.hpp"
#include "tests/unit/train/token_reference.hpp"

namespace dts::train {

struct AttentionBench {
  reference::AttentionShape shape;
  // Gradients begin with values that must be overwritten.
  Activation q{floats(shape.heads), 12, 9.0F};
  Activation k{floats(shape.key_heads), 13, 9.0F};
  Activation v{floats(shape.key_heads), 14, 9.0F};
  Activation out{floats(shape.heads)};
  reference::Values objective = reference::random_values(floats(shape.heads), 16);

  // Runs forward and backward.
  void run(Precision precision) {
    const auto heads = [&](Activation& of, int count) {
      return Heads{of.edge(), count * shape.width, count};
    };
    const auto block = attention({shape.batch,
                                  shape.context,
                                  shape.width,
                                  heads(q, shape.heads),
                                  heads(k, shape.key_heads),
                                  heads(v, shape.key_heads),
                                  precision},
                                 out.edge());
    Bench().run(*block, out, objective);
  }

 private:
  [[nodiscard]] std::size_t floats(int heads) const {
    return static_cast<std::size_t>(shape.batch) * static_cast<std::size_t>(shape.context) *
           static_cast<std::size_t>(heads) * static_cast<std::size_t>(shape.width);
  }
};

}  // namespace dts::train
