// SPDX-License-Identifier: Apache-2.0
// Blocks of one of two kinds: edges hold floats, or, where products are of bf16, rounded values
// (Products::keep_rounded).
#pragma once

#include "core/train/accelerator/products.hpp"

#include <memory>
#include <utility>

namespace dts::train::accelerator {

// An edge as kernels find it.
template <class Value>
struct StoredEdge {
  Value* value;
  Value* gradient;

  // std::logic_error if it does not hold that.
  StoredEdge(const Products& products, const Edge& edge)
      : value(products.as<Value>(edge.value)), gradient(products.as<Value>(edge.gradient)) {}
};

// A block for what edges hold with these products.
template <template <class> class BlockOf, class... Arguments>
[[nodiscard]] std::unique_ptr<Block> stored_block(Queue& queue,
                                                  const Products& products,
                                                  Arguments&&... arguments) {
  if (products.rounds())
    return std::make_unique<BlockOf<Bfloat>>(
        queue, products, std::forward<Arguments>(arguments)...);
  return std::make_unique<BlockOf<float>>(queue, products, std::forward<Arguments>(arguments)...);
}

}  // namespace dts::train::accelerator
