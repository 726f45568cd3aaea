// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels of attention: rows of heads, the part that a block computes, and scores.
#pragma once

#include "core/train/accelerator/kernels/products/plain_factors.hpp"
#include "core/train/accelerator/kernels/products/tensor_factors.hpp"

#include <cmath>

namespace dts::train::accelerator {

// Rows with heads one after another, as in model/token_blocks.hpp.
template <class Value>
struct HeadRows {
  Value* values = nullptr;
  int pitch = 0;

  [[nodiscard]] DTS_BLOCK_CODE Value* row(std::int64_t row, int head, int width) const {
    return values + row * pitch + head * width;
  }

  // Calls each(address, values) for the first `rows` rows.
  template <class Each>
  void for_each_row(int rows, int heads, int width, const Each& each) const {
    for (int row = 0; row < rows; ++row)
      each(values + static_cast<std::int64_t>(row) * pitch,
           static_cast<std::size_t>(heads * width));
  }
};

struct AttendShape {
  int batch = 0;
  int context = 0;
  int width = 0;  // of a head
  int heads = 0;  // of queries
  int keys = 0;   // heads of keys and values; each serves a run of heads / keys
  float scale = 1;

  [[nodiscard]] DTS_CODE_OF_BOTH int tiles() const { return (context + k_tile - 1) / k_tile; }

  // Parts of 64 columns per head.
  [[nodiscard]] DTS_CODE_OF_BOTH int parts() const { return (width + k_tile - 1) / k_tile; }

  [[nodiscard]] DTS_CODE_OF_BOTH int group() const { return heads / keys; }

  // The offset of a head in arrays with a value per position, [batch][heads][context].
  [[nodiscard]] DTS_BLOCK_CODE std::size_t head_begin(int sample, int head) const {
    return (static_cast<std::size_t>(sample) * static_cast<std::size_t>(heads) +
            static_cast<std::size_t>(head)) *
           static_cast<std::size_t>(context);
  }

  [[nodiscard]] std::size_t positions() const {
    return static_cast<std::size_t>(batch) * static_cast<std::size_t>(heads) *
           static_cast<std::size_t>(context);
  }

  // One block for each part of each tile of `of_heads` heads.
  [[nodiscard]] std::size_t blocks(int of_heads) const {
    return static_cast<std::size_t>(batch) * static_cast<std::size_t>(of_heads * tiles() * parts());
  }
};

// The base of kernels with a block for each part of each tile of each head.
template <class Factors>
struct Attend {
  static constexpr int k_threads = Factors::k_threads;
  // A thread has up to three parts of products in registers.
  static constexpr int k_blocks_together = k_threads > 128 ? 2 : 3;

  using Stored = typename Factors::Stored;
  using Part = typename Factors::Part;
  using Side = typename Factors::Side;
  using InputRows = HeadRows<const Stored>;

  AttendShape shape;
  InputRows q;
  InputRows k;
  InputRows v;

  // The part of a head's tile that a block computes.
  struct Place {
    int sample = 0;
    int head = 0;
    int tile = 0;
    int column = 0;  // first column in the head

    DTS_BLOCK_CODE Place(int of_sample, int of_head, int of_tile)
        : sample(of_sample), head(of_head), tile(of_tile) {}

    // Begins with the last tiles, in which queries have the most work.
    DTS_BLOCK_CODE Place(std::size_t index, int heads, const AttendShape& shape)
        : column(static_cast<int>(index % static_cast<std::size_t>(shape.parts())) * k_tile) {
      const int tiles = shape.tiles();
      const auto of_part = index / static_cast<std::size_t>(shape.parts());
      tile = tiles - 1 - static_cast<int>(of_part % static_cast<std::size_t>(tiles));
      const auto of_tile = of_part / static_cast<std::size_t>(tiles);
      head = static_cast<int>(of_tile % static_cast<std::size_t>(heads));
      sample = static_cast<int>(of_tile / static_cast<std::size_t>(heads));
    }
  };

  template <class Visit>
  void reads_all(const Visit& visit) const {
    reads_rows(visit, q, shape.heads);
    reads_rows(visit, k, shape.keys);
    reads_rows(visit, v, shape.keys);
  }

  template <class Visit>
  void reads_rows(const Visit& visit, const InputRows& of, int heads) const {
    of.for_each_row(
        shape.batch * shape.context, heads, shape.width, [&](const Stored* at, std::size_t count) {
          accelerator::reads(visit, at, count);
        });
  }

  template <class Visit>
  void writes_rows(const Visit& visit, const HeadRows<Stored>& of, int heads) const {
    of.for_each_row(
        shape.batch * shape.context, heads, shape.width, [&](Stored* at, std::size_t count) {
          accelerator::writes(visit, at, count);
        });
  }

  [[nodiscard]] DTS_BLOCK_CODE int rows_of(int tile) const {
    const int left = shape.context - tile * k_tile;
    return left < k_tile ? left : k_tile;
  }

  // The number of columns of a head, from `column` on, that a block computes.
  [[nodiscard]] DTS_BLOCK_CODE int columns_from(int column) const {
    const int left = shape.width - column;
    return left < k_tile ? left : k_tile;
  }

  [[nodiscard]] DTS_BLOCK_CODE std::int64_t row(int sample, int tile) const {
    return static_cast<std::int64_t>(sample) * shape.context + tile * k_tile;
  }

  // The rows of a tile as the rows of a factor.
  [[nodiscard]] DTS_BLOCK_CODE RowsFactor<Stored> rows_factor(const InputRows& of,
                                                              int sample,
                                                              int tile,
                                                              int head) const {
    return {of.row(row(sample, tile), head, shape.width), of.pitch, rows_of(tile)};
  }

  // The same as its columns, for 64 columns of the head from `column` on.
  [[nodiscard]] DTS_BLOCK_CODE ColumnsFactor<Stored> columns_factor(
      const InputRows& of, int sample, int tile, int head, int column) const {
    return {of.row(row(sample, tile), head, shape.width) + column, of.pitch, columns_from(column)};
  }

  // The number of keys of `key_tile` that a query of another tile may see, always the first ones; 0
  // if the query does not exist.
  [[nodiscard]] DTS_BLOCK_CODE int visible_keys(int tile, int query, int key_tile) const {
    const int before = (tile - key_tile) * k_tile + query + 1;
    const int rows = rows_of(key_tile);
    return query >= rows_of(tile) ? 0 : before < rows ? before : rows;
  }

  // Whether a side can hold all columns of a head,
  [[nodiscard]] DTS_BLOCK_CODE bool holds_head() const { return shape.width <= Factors::k_columns; }

  // and all rows of a tile as well, so that each factor is loaded once for all products of a tile.
  [[nodiscard]] DTS_BLOCK_CODE bool holds_tiles() const {
    return k_tile <= Factors::k_columns && holds_head();
  }

  // Loads all columns of a tile of a head. Sides hold rows and columns of it in the same layout.
  DTS_BLOCK_CODE void fetch_tile(Side& to, int thread, const RowsFactor<Stored>& rows) const {
    Factors::fetch(to, thread, rows, 0, shape.width);
  }

  // kept[thread] = left right^T, over a head's columns; `has_left`: the left side may hold it
  // already.
  template <class Block, class Kept, class Left, class Right>
  DTS_BLOCK_CODE void multiply_rows(const Block& block,
                                    Side& left_side,
                                    Side& right_side,
                                    Kept& kept,
                                    const Left& left,
                                    const Right& right,
                                    bool has_left) const {
    block.each_in_warps([&](int thread) { kept[thread].clear(); });
    add_product<Factors>(block,
                         left_side,
                         right_side,
                         kept,
                         left,
                         right,
                         shape.width,
                         {holds_tiles() || (has_left && holds_head()), holds_tiles()});
  }

  // Writes a thread's values of a row of the block's part, each as value_at(value).
  template <class ValueAt>
  DTS_BLOCK_CODE void write_row(int thread,
                                int i,
                                const Part& part,
                                const HeadRows<Stored>& to,
                                const Place& place,
                                const ValueAt& value_at) const {
    const int in_tile = Part::row(thread, i);
    if (in_tile >= rows_of(place.tile)) return;
    Stored* const first =
        to.row(row(place.sample, place.tile) + in_tile, place.head, shape.width) + place.column;
    part.write_row(thread, i, first, columns_from(place.column), value_at);
  }

  template <class Kept>
  DTS_BLOCK_CODE void write_rows(int thread,
                                 Kept& kept,
                                 const HeadRows<Stored>& to,
                                 const Place& place) const {
    for (int i = 0; i < Part::k_rows; ++i)
      write_row(thread, i, kept[thread], to, place, [](float value) { return value; });
  }
};

}  // namespace dts::train::accelerator
