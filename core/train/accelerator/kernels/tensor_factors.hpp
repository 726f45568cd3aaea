// SPDX-License-Identifier: Apache-2.0
// Products of factors rounded to bf16, with sums in fp32. On devices by tensor cores, eight warps
// with 16 x 32 values each: the instruction mma.sync.m16n8k16, whose places of values in threads
// are those of the PTX ISA, section "Matrix Fragments for mma.m16n8k16". Within an instruction the
// device chooses the order of sums, the same each time; on the host it is that of the columns.
#pragma once

#include "core/train/accelerator/kernels/tiles.hpp"

namespace dts::train::accelerator {

// What a thread keeps of a product: of two rows, eight apart, two neighbours of each eight columns.
struct TensorPart {
  static constexpr int k_step = 8;    // from one row, or pair of columns, to the next
  static constexpr int k_blocks = 4;  // of eight columns

  float sums[k_blocks][4];  // of each block: a row's two, the other row's two

  [[nodiscard]] DTS_BLOCK_CODE static int warp_row(int thread) { return thread / 64 * 16; }

  [[nodiscard]] DTS_BLOCK_CODE static int warp_column(int thread) { return thread / 32 % 2 * 32; }

  [[nodiscard]] DTS_BLOCK_CODE static int first_row(int thread) {
    return warp_row(thread) + thread % 32 / 4;
  }

  [[nodiscard]] DTS_BLOCK_CODE static int first_column(int thread) {
    return warp_column(thread) + thread % 4 * 2;
  }

  // The same for all of a warp, which computes together.
  [[nodiscard]] DTS_BLOCK_CODE static bool is_outside(int thread, const TileSize& size) {
    return warp_row(thread) >= size.rows || warp_column(thread) >= size.columns;
  }

  DTS_BLOCK_CODE void clear() {
    for (auto& block : sums)
      for (float& value : block) value = 0;
  }

  // One of a thread's own, by its place in the tile.
  [[nodiscard]] DTS_BLOCK_CODE float at(int thread, int row, int column) const {
    const int aside = column - first_column(thread);
    return sums[aside / k_step][(row - first_row(thread)) / k_step * 2 + aside % k_step];
  }

  // Calls work(row, column, value) for each of `these` rows and columns of the tile.
  template <class Work>
  DTS_BLOCK_CODE void for_each(int thread, const TileSize& these, const Work& work) {
    for (int block = 0; block < k_blocks; ++block)
      for (int i = 0; i < 4; ++i) {
        const int row = first_row(thread) + i / 2 * k_step;
        const int column = first_column(thread) + block * k_step + i % 2;
        if (row < these.rows && column < these.columns) work(row, column, sums[block][i]);
      }
  }
};

// Some columns of both factors, [row][pair of columns], the first of a pair in the lower half.
struct TensorFactors {
  using Part = TensorPart;
  using Stored = Bfloat;

  static constexpr int k_columns = 64;
  static constexpr int k_pairs = k_columns / 2;
  static constexpr int k_at_once = 16;         // of an instruction
  static constexpr int k_pitch = k_pairs + 4;  // a gap: a warp's reads are of all banks
  using Side = std::uint32_t[k_tile][k_pitch];

  alignas(16) Side left;
  alignas(16) Side right;

  template <int threads, class Factor>
  DTS_BLOCK_CODE static void fetch(Side& to, int thread, const Factor& factor, int begin, int end) {
    if constexpr (requires { factor.at(0, 0); })
      if (factor.suits_eights(end)) return fetch_eights<threads>(to, thread, factor, begin, end);
    DTS_UNROLLED_TWICE
    for (int i = thread; i < k_pairs * k_tile; i += threads) {
      const int row = Factor::k_is_upright ? i % k_tile : i / k_pairs;
      const int pair = Factor::k_is_upright ? i / k_tile : i % k_pairs;
      const int column = begin + 2 * pair;
      const bool is_there = row < factor.rows;
      to[row][pair] = rounded_pair(is_there && column < end ? factor(row, column) : 0.0F,
                                   is_there && column + 1 < end ? factor(row, column + 1) : 0.0F);
    }
  }

  DTS_BLOCK_CODE void add_to(Part& part, int thread, int columns) const {
    for (int begin = 0; begin < columns; begin += k_at_once) add_instructions(part, thread, begin);
  }

 private:
  static constexpr int k_warp = 32;

  // The words are those of rounded_pair().
  template <int threads, class Factor>
  DTS_BLOCK_CODE static void fetch_eights(
      Side& to, int thread, const Factor& factor, int begin, int end) {
    if constexpr (Factor::k_is_upright) {
      DTS_NOT_UNROLLED
      for (int i = thread; i < k_tile / Eight::k_count * k_pairs; i += threads)
        put_rows(to, factor, i / k_pairs * Eight::k_count, i % k_pairs, begin, end);
    } else {
      constexpr int k_eights = k_columns / Eight::k_count;
      DTS_NOT_UNROLLED
      for (int i = thread; i < k_eights * k_tile; i += threads) {
        const int row = i / k_eights;
        const int eight = i % k_eights;
        const Eight of = eight_of(factor, row, begin + eight * Eight::k_count, end);
        for (int pair = 0; pair < Eight::k_pairs; ++pair)
          to[row][eight * Eight::k_pairs + pair] = of.pairs[pair];
      }
    }
  }

  // Of eight rows a pair of columns.
  template <class Factor>
  DTS_BLOCK_CODE static void put_rows(
      Side& to, const Factor& factor, int row, int pair, int begin, int end) {
    const Eight first = eight_of(factor, row, begin + 2 * pair, end);
    const Eight second = eight_of(factor, row, begin + 2 * pair + 1, end);
    for (int i = 0; i < Eight::k_pairs; ++i) {
      to[row + 2 * i][pair] = (first.pairs[i] & 0xFFFFU) | second.pairs[i] << 16;
      to[row + 2 * i + 1][pair] = first.pairs[i] >> 16 | (second.pairs[i] & 0xFFFF0000U);
    }
  }

  template <class Factor>
  [[nodiscard]] DTS_BLOCK_CODE static Eight eight_of(const Factor& factor,
                                                     int row,
                                                     int column,
                                                     int end) {
    const auto* const at = row < factor.rows && column < end ? factor.at(row, column) : nullptr;
    return at == nullptr ? Eight{} : read_eight(at);
  }

  // Words that the instruction takes of a thread: of 16 rows and columns of the left factor, of
  // eight rows of the right one.
  [[nodiscard]] DTS_BLOCK_CODE std::uint32_t left_word(int thread, int begin, int word) const {
    return left[Part::first_row(thread) + word % 2 * Part::k_step]
               [begin / 2 + thread % 4 + word / 2 * 4];
  }

  [[nodiscard]] DTS_BLOCK_CODE std::uint32_t right_word(int thread,
                                                        int block,
                                                        int begin,
                                                        int word) const {
    return right[Part::warp_column(thread) + block * Part::k_step + thread % k_warp / 4]
                [begin / 2 + thread % 4 + word * 4];
  }

  // Of 16 columns, one for each block of a thread's part.
  DTS_BLOCK_CODE void add_instructions(Part& part, int thread, int begin) const {
#if defined(__CUDA_ARCH__)
    // Words of the left factor are those of all blocks: the compiler would read them for each.
    const std::uint32_t words[] = {left_word(thread, begin, 0),
                                   left_word(thread, begin, 1),
                                   left_word(thread, begin, 2),
                                   left_word(thread, begin, 3)};
    for (int block = 0; block < Part::k_blocks; ++block)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(part.sums[block][0]),
            "+f"(part.sums[block][1]),
            "+f"(part.sums[block][2]),
            "+f"(part.sums[block][3])
          : "r"(words[0]),
            "r"(words[1]),
            "r"(words[2]),
            "r"(words[3]),
            "r"(right_word(thread, block, begin, 0)),
            "r"(right_word(thread, block, begin, 1)));
#else
    // What it does: values k of a row are those of four threads, two neighbours of each word.
    const int warp = thread / k_warp * k_warp;
    for (int block = 0; block < Part::k_blocks; ++block)
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < k_at_once; ++k) {
          const int column = thread % 4 * 2 + i % 2;
          const int of_left = thread / 4 * 4 + k % 8 / 2;
          const int of_right = warp + column * 4 + k % 8 / 2;
          part.sums[block][i] += half_of(left_word(of_left, begin, i / 2 + k / 8 * 2), k % 2) *
                                 half_of(right_word(of_right, block, begin, k / 8), k % 2);
        }
#endif
  }

  // 0: the lower one.
  [[nodiscard]] DTS_BLOCK_CODE static float half_of(std::uint32_t pair, int half) {
    return value_of(static_cast<Bfloat>(half == 0 ? pair : pair >> 16));
  }
};

}  // namespace dts::train::accelerator
