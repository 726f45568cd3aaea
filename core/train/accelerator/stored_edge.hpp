// SPDX-License-Identifier: Apache-2.0
// Blocks in two forms: their edges hold floats or, with bf16 products, rounded values
// (Products::keep_rounded).
#pragma once

#include "core/train/accelerator/products.hpp"

#include <memory>
#include <utility>

namespace dts::train::accelerator {

// An edge with the type of values that it holds.
template <class Value>
struct StoredEdge {
  Value* value;
  Value* gradient;

  // std::logic_error if the edge does not hold this type.
  StoredEdge(const Products& products, const Edge& edge)
      : value(products.as<Value>(edge.value)), gradient(products.as<Value>(edge.gradient)) {}
};

// Makes the form of a block that suits what edges hold with these products.
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
