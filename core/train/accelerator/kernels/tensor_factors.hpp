// SPDX-License-Identifier: Apache-2.0
// Products of factors rounded to bf16, with sums in fp32. On devices by tensor cores, eight warps
// with 16 x 32 values each: the instruction mma.sync.m16n8k16, whose places of values in threads
// are those of the PTX ISA, section "Matrix Fragments for mma.m16n8k16", and ldmatrix, which brings
// them there. Within an instruction the device chooses the order of sums, the same each time; on
// the host it is that of the columns.
#pragma once

#include "core/train/accelerator/kernels/tiles.hpp"

namespace dts::train::accelerator {

// What a thread keeps of a product: of two rows, eight apart, two neighbours of each eight columns.
struct TensorPart {
  static constexpr int k_step = 8;    // from one row, or pair of columns, to the next
  static constexpr int k_blocks = 4;  // of eight columns
  static constexpr int k_rows = 2;
  static constexpr int k_sharing = 8;

  float sums[k_blocks][4];  // of each block: a row's two, the other row's two

  [[nodiscard]] DTS_BLOCK_CODE static int warp_row(int thread) { return thread / 64 * 16; }

  [[nodiscard]] DTS_BLOCK_CODE static int warp_column(int thread) { return thread / 32 % 2 * 32; }

  [[nodiscard]] DTS_BLOCK_CODE static int row(int thread, int i) {
    return warp_row(thread) + thread % 32 / 4 + i * k_step;
  }

  // Among the threads that share its rows.
  [[nodiscard]] DTS_BLOCK_CODE static int which(int thread) {
    return thread / 32 % 2 * 4 + thread % 4;
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

  // Calls work(column, value) for each of row number i.
  template <class Work>
  DTS_BLOCK_CODE void for_each_of_row(int thread, int i, const Work& work) {
    for (int block = 0; block < k_blocks; ++block)
      for (int j = 0; j < 2; ++j)
        work(first_column(thread) + block * k_step + j, sums[block][2 * i + j]);
  }

  // Calls work(column, value, that of `other`), likewise.
  template <class Work>
  DTS_BLOCK_CODE void for_each_of_row(int thread,
                                      int i,
                                      const TensorPart& other,
                                      const Work& work) {
    for (int block = 0; block < k_blocks; ++block)
      for (int j = 0; j < 2; ++j)
        work(first_column(thread) + block * k_step + j,
             sums[block][2 * i + j],
             other.sums[block][2 * i + j]);
  }

  // Writes row number i, of `columns` from `row` on, each value as value_at(value).
  template <class Value, class ValueAt>
  DTS_BLOCK_CODE void write_row(
      int thread, int i, Value* row, int columns, const ValueAt& value_at) const {
    const bool suits = suits_few<2>(row);
    for (int block = 0; block < k_blocks; ++block) {
      const int column = first_column(thread) + block * k_step;
      const float pair[2] = {value_at(sums[block][2 * i]), value_at(sums[block][2 * i + 1])};
      if (column < columns) write_few(row + column, pair, columns - column, suits);
    }
  }
};

struct TensorFactors {
  using Part = TensorPart;
  using Stored = Bfloat;

  static constexpr int k_columns = 64;
  static constexpr int k_pairs = k_columns / 2;
  static constexpr int k_at_once = 16;  // of an instruction

  // [row][pair of columns], the first of a pair in the lower half, or, of an upright factor,
  // [column][pair of rows]. With a gap, so that a warp's reads are of all banks.
  struct alignas(16) Side {
    static constexpr int k_pitch = k_pairs + 4;

    std::uint32_t words[k_tile][k_pitch];
  };

  template <int threads, class Factor>
  DTS_BLOCK_CODE static void fetch(Side& to, int thread, const Factor& factor, int begin, int end) {
    static_assert(k_columns == k_tile);
    if (factor.suits_eights(end)) {
      constexpr int k_eights = k_columns / Eight::k_count;
      DTS_NOT_UNROLLED
      for (int i = thread; i < k_eights * k_tile; i += threads) {
        const int line = i / k_eights;
        const int first = i % k_eights * Eight::k_count;
        const Eight eight = Factor::k_is_upright ? eight_of(factor, first, begin + line, end)
                                                 : eight_of(factor, line, begin + first, end);
        for (int pair = 0; pair < Eight::k_pairs; ++pair)
          to.words[line][first / 2 + pair] = eight.pairs[pair];
      }
      return;
    }
    DTS_UNROLLED_TWICE
    for (int i = thread; i < k_pairs * k_tile; i += threads) {
      const int line = i / k_pairs;
      const int first = i % k_pairs * 2;
      to.words[line][first / 2] = Factor::k_is_upright
                                      ? rounded_pair(value(factor, first, begin + line, end),
                                                     value(factor, first + 1, begin + line, end))
                                      : rounded_pair(value(factor, line, begin + first, end),
                                                     value(factor, line, begin + first + 1, end));
    }
  }

  // All of its columns at once.
  DTS_BLOCK_CODE static void put(Side& to, int thread, const Part& part, int /*begin*/) {
    for (int block = 0; block < Part::k_blocks; ++block)
      for (int i = 0; i < Part::k_rows; ++i)
        to.words[Part::row(thread, i)][(Part::first_column(thread) + block * Part::k_step) / 2] =
            rounded_pair(part.sums[block][2 * i], part.sums[block][2 * i + 1]);
  }

  template <bool is_left_upright, bool is_right_upright>
  DTS_BLOCK_CODE static void add(
      Part& part, int thread, const Side& left, const Side& right, int columns) {
    DTS_UNROLLED_TWICE
    for (int begin = 0; begin < columns; begin += k_at_once)
      add_instructions<is_left_upright, is_right_upright>(part, thread, left, right, begin);
  }

 private:
  static constexpr int k_warp = 32;
  static constexpr int k_side = 8;  // of the matrices that a factor of an instruction is made of

  template <class Factor>
  [[nodiscard]] DTS_BLOCK_CODE static float value(const Factor& factor,
                                                  int row,
                                                  int column,
                                                  int end) {
    return row < factor.rows && column < end ? factor(row, column) : 0.0F;
  }

  template <class Factor>
  [[nodiscard]] DTS_BLOCK_CODE static Eight eight_of(const Factor& factor,
                                                     int row,
                                                     int column,
                                                     int end) {
    const auto* const at = row < factor.rows && column < end ? factor.at(row, column) : nullptr;
    return at == nullptr ? Eight{} : read_eight(at);
  }

  // Where eight values begin.
  struct Place {
    int line = 0;
    int word = 0;
  };

  // Of the factors of an instruction, a warp's, line number `line` of 8 x 8 matrix number `number`:
  // of the left one four matrices, of the right ones of two blocks two each.
  template <bool is_upright>
  [[nodiscard]] DTS_BLOCK_CODE static Place left_place(int thread,
                                                       int begin,
                                                       int number,
                                                       int line) {
    const int row = Part::warp_row(thread) + number % 2 * k_side;
    const int column = begin + number / 2 * k_side;
    return is_upright ? Place{column + line, row / 2} : Place{row + line, column / 2};
  }

  template <bool is_upright>
  [[nodiscard]] DTS_BLOCK_CODE static Place right_place(
      int thread, int begin, int block, int number, int line) {
    const int row = Part::warp_column(thread) + (block + number / 2) * k_side;
    const int column = begin + number % 2 * k_side;
    return is_upright ? Place{column + line, row / 2} : Place{row + line, column / 2};
  }

#if defined(__CUDA_ARCH__)
  // Four matrices, whose lines begin where 8 threads each say. A thread gets two neighbours of line
  // (thread % 32) / 4 of each, or, of an upright factor, of that column.
  template <bool is_upright>
  DTS_BLOCK_CODE static void load(std::uint32_t (&words)[4], const Side& side, const Place& mine) {
    const auto address =
        static_cast<std::uint32_t>(__cvta_generic_to_shared(&side.words[mine.line][mine.word]));
    if constexpr (is_upright)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"(address)
                   : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"(address)
                   : "memory");
  }

  DTS_BLOCK_CODE static void multiply(float (&sums)[4],
                                      const std::uint32_t (&left)[4],
                                      std::uint32_t first,
                                      std::uint32_t second) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(first), "r"(second));
  }

  // Of 16 columns, one for each block of a thread's part.
  template <bool is_left_upright, bool is_right_upright>
  DTS_BLOCK_CODE static void add_instructions(
      Part& part, int thread, const Side& left, const Side& right, int begin) {
    const int number = thread % k_warp / k_side;
    const int line = thread % k_side;
    std::uint32_t of_left[4];
    std::uint32_t of_right[4];
    load<is_left_upright>(of_left, left, left_place<is_left_upright>(thread, begin, number, line));
    for (int block = 0; block < Part::k_blocks; block += 2) {
      load<is_right_upright>(
          of_right, right, right_place<is_right_upright>(thread, begin, block, number, line));
      multiply(part.sums[block], of_left, of_right[0], of_right[1]);
      multiply(part.sums[block + 1], of_left, of_right[2], of_right[3]);
    }
  }
#else
  // The word of a matrix that a thread gets. place_of(line): where its lines begin.
  template <bool is_upright, class PlaceOf>
  [[nodiscard]] DTS_BLOCK_CODE static std::uint32_t word(const Side& side,
                                                         int thread,
                                                         const PlaceOf& place_of) {
    const int lane = thread % k_warp;
    if (!is_upright) {
      const Place place = place_of(lane / 4);
      return side.words[place.line][place.word + lane % 4];
    }
    const auto half = [&](int line) {
      const Place place = place_of(line);
      const std::uint32_t pair = side.words[place.line][place.word + lane / 8];
      return lane / 4 % 2 == 0 ? pair & 0xFFFFU : pair >> 16;
    };
    return half(lane % 4 * 2) | half(lane % 4 * 2 + 1) << 16;
  }

  // What the instructions do: values k of a row are those of four threads, two neighbours of each
  // word.
  template <bool is_left_upright, bool is_right_upright>
  DTS_BLOCK_CODE static void add_instructions(
      Part& part, int thread, const Side& left, const Side& right, int begin) {
    const int warp = thread / k_warp * k_warp;
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < k_at_once; ++k) {
        const int number = i / 2 + k / 8 * 2;
        const float of_left = half_of(
            word<is_left_upright>(
                left,
                thread / 4 * 4 + k % 8 / 2,
                [&](int line) { return left_place<is_left_upright>(thread, begin, number, line); }),
            k % 2);
        for (int block = 0; block < Part::k_blocks; ++block) {
          const std::uint32_t pair = word<is_right_upright>(
              right, warp + (thread % 4 * 2 + i % 2) * 4 + k % 8 / 2, [&](int line) {
                return right_place<is_right_upright>(
                    thread, begin, block / 2 * 2, block % 2 * 2 + k / 8, line);
              });
          part.sums[block][i] += of_left * half_of(pair, k % 2);
        }
      }
  }
#endif

  // 0: the lower one.
  [[nodiscard]] DTS_BLOCK_CODE static float half_of(std::uint32_t pair, int half) {
    return value_of(static_cast<Bfloat>(half == 0 ? pair : pair >> 16));
  }
};

}  // namespace dts::train::accelerator
