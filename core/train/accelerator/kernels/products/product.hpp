// SPDX-License-Identifier: Apache-2.0
// Products of matrices, for shapes that a device's library has no algorithm for.
#pragma once

#include "core/train/accelerator/dttrain_device.h"
#include "core/train/accelerator/kernels/products/tiled_product.hpp"

namespace dts::train::accelerator {

// out = left right + plus + bias, without a curve. Factors are of Factors::Stored, the others of
// Value. Sums are in one order, whatever the device.
template <class Factors, class Value>
struct Multiply : TiledProduct<Factors> {
  static constexpr int k_blocks_together = 2;

  using Stored = typename Factors::Stored;
  using Shared = typename TiledProduct<Factors>::Shared;

  dttrain_product product;

  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(product.count) * static_cast<std::size_t>(down()) *
           static_cast<std::size_t>(across());
  }

  template <class Visit>
  void accesses(const Visit& visit) const {
    const dttrain_product& p = product;
    for_each_row(p.left, p.rows, p.inner, [&](const Stored* row, std::size_t count) {
      accelerator::reads(visit, row, count);
    });
    for_each_row(p.right, p.inner, p.columns, [&](const Stored* row, std::size_t count) {
      accelerator::reads(visit, row, count);
    });
    const auto columns = static_cast<std::size_t>(p.columns);
    accelerator::reads(visit, static_cast<const Value*>(p.bias), columns);
    for (int matrix = 0; matrix < p.count; ++matrix)
      for (int row = 0; row < p.rows; ++row) {
        const std::int64_t at = place(matrix, row, 0);
        if (p.plus != nullptr)
          accelerator::reads(visit, static_cast<const Value*>(p.plus) + at, columns);
        accelerator::writes(visit, static_cast<Value*>(p.out) + at, columns);
      }
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const auto tiles = static_cast<std::size_t>(down()) * static_cast<std::size_t>(across());
    const auto matrix = static_cast<int>(block.index() / tiles);
    const auto tile = static_cast<int>(block.index() % tiles);
    const int row = tile / across() * k_tile;
    const int column = tile % across() * k_tile;
    const TileSize size{this->tile_from(row, product.rows),
                        this->tile_from(column, product.columns)};
    typename Block::template Kept<typename Factors::Part> kept(block);
    block.each([&](int thread) { kept[thread].clear(); });
    // In parts, as offsets within a factor are of 31 bits: enough for rows of four million values.
    for (int begin = 0; begin < product.inner; begin += k_part) {
      const int end = product.inner - begin < k_part ? product.inner - begin : k_part;
      const auto add = [&](const auto& left, const auto& right) {
        add_product<Factors>(block, shared.left, shared.right, kept, left, right, end);
      };
      const Stored* const left = first(product.left, matrix, row, begin);
      const Stored* const right = first(product.right, matrix, begin, column);
      const int left_pitch = product.left.pitch;
      const int right_pitch = product.right.pitch;
      // The right factor's columns are the rows of its transpose, by which add_product()
      // multiplies.
      if (product.left.is_transposed != 0 && product.right.is_transposed != 0)
        add(ColumnsFactor<Stored>{left, left_pitch, size.rows},
            RowsFactor<Stored>{right, right_pitch, size.columns});
      else if (product.left.is_transposed != 0)
        add(ColumnsFactor<Stored>{left, left_pitch, size.rows},
            ColumnsFactor<Stored>{right, right_pitch, size.columns});
      else if (product.right.is_transposed != 0)
        add(RowsFactor<Stored>{left, left_pitch, size.rows},
            RowsFactor<Stored>{right, right_pitch, size.columns});
      else
        add(RowsFactor<Stored>{left, left_pitch, size.rows},
            ColumnsFactor<Stored>{right, right_pitch, size.columns});
    }
    block.each([&](int thread) {
      for (int i = 0; i < Factors::Part::k_rows; ++i)
        if (const int below = Factors::Part::row(thread, i); below < size.rows)
          kept[thread].for_each_of_row(thread, i, [&](int beside, float sum) {
            if (beside < size.columns) put(matrix, row + below, column + beside, sum);
          });
    });
  }

 private:
  static constexpr int k_part = 512;  // a multiple of the columns of a side

  [[nodiscard]] DTS_CODE_OF_BOTH int down() const { return this->tiles_of(product.rows); }

  [[nodiscard]] DTS_CODE_OF_BOTH int across() const { return this->tiles_of(product.columns); }

  // The address of a value of a factor, after any transposition.
  [[nodiscard]] DTS_BLOCK_CODE static const Stored* first(const dttrain_factor& factor,
                                                          int matrix,
                                                          int row,
                                                          int column) {
    const int down = factor.is_transposed != 0 ? column : row;
    const int across = factor.is_transposed != 0 ? row : column;
    return static_cast<const Stored*>(factor.values) + matrix * factor.stride +
           static_cast<std::int64_t>(down) * factor.pitch + across;
  }

  [[nodiscard]] DTS_CODE_OF_BOTH std::int64_t place(int matrix, int row, int column) const {
    return matrix * product.stride + static_cast<std::int64_t>(row) * product.pitch + column;
  }

  DTS_BLOCK_CODE void put(int matrix, int row, int column, float sum) const {
    const std::int64_t at = place(matrix, row, column);
    if (product.plus != nullptr) sum += value_of(static_cast<const Value*>(product.plus)[at]);
    if (product.bias != nullptr) sum += value_of(static_cast<const Value*>(product.bias)[column]);
    store(static_cast<Value*>(product.out)[at], sum);
  }

  // Calls each(address, values) for the rows of a factor in memory.
  template <class Each>
  void for_each_row(const dttrain_factor& factor, int rows, int columns, const Each& each) const {
    const bool is_transposed = factor.is_transposed != 0;
    for (int matrix = 0; matrix < product.count; ++matrix)
      for (int row = 0; row < (is_transposed ? columns : rows); ++row)
        each(static_cast<const Stored*>(factor.values) + matrix * factor.stride +
                 static_cast<std::int64_t>(row) * factor.pitch,
             static_cast<std::size_t>(is_transposed ? rows : columns));
  }
};

}  // namespace dts::train::accelerator
