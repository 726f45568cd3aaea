// SPDX-License-Identifier: Apache-2.0
// Kernels that are a product of two matrices: convolutions, and products themselves.
#pragma once

#include "core/train/accelerator/kernels/products/plain_factors.hpp"
#include "core/train/accelerator/kernels/products/tensor_factors.hpp"

namespace dts::train::accelerator {

// The base of kernels of which a block computes 64 x 64 values of a product.
template <class Factors>
struct TiledProduct {
  static constexpr int k_threads = Factors::k_threads;
  static constexpr int k_blocks_together = 4;

  struct Shared {
    typename Factors::Side left;
    typename Factors::Side right;
  };

  [[nodiscard]] DTS_CODE_OF_BOTH static int tiles_of(int count) {
    return (count + k_tile - 1) / k_tile;
  }

  [[nodiscard]] DTS_BLOCK_CODE static int tile_from(int begin, int count) {
    return count - begin < k_tile ? count - begin : k_tile;
  }

  // Writes left right^T; row_at(row) is the address of a row.
  template <class Block, class Left, class Right, class RowAt>
  DTS_BLOCK_CODE static void multiply(const Block& block,
                                      Shared& shared,
                                      const Left& left,
                                      const Right& right,
                                      int inner,
                                      const RowAt& row_at) {
    typename Block::template Kept<typename Factors::Part> kept(block);
    block.each([&](int thread) { kept[thread].clear(); });
    add_product<Factors>(block, shared.left, shared.right, kept, left, right, inner);
    block.each([&](int thread) {
      write_part(kept[thread], thread, {left.rows, right.rows}, row_at);
    });
  }
};

}  // namespace dts::train::accelerator
