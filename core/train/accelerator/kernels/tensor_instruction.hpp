// SPDX-License-Identifier: Apache-2.0
// The instruction of tensor cores, mma.sync.m16n8k16, whose places of values in threads are those
// of the PTX ISA, section "Matrix Fragments for mma.m16n8k16", and ldmatrix, which brings them
// there from shared memory. Within an instruction the device chooses the order of sums, the same
// each time; on the host it is that of the columns.
#pragma once

#include "core/train/accelerator/kernels/tensor_part.hpp"

namespace dts::train::accelerator {

template <int across>
struct TensorInstruction {
  using Part = TensorPartOf<across>;

  static constexpr int k_columns = 16;  // of one
  static constexpr int k_side_columns = 64;

  // [row][pair of columns], the first of a pair in the lower half, or, of an upright factor,
  // [column][pair of rows]. With a gap, so that a warp's reads are of all banks.
  struct alignas(16) Side {
    static constexpr int k_pitch = k_side_columns / 2 + 4;

    std::uint32_t words[k_tile][k_pitch];
  };

  // The left factor of an instruction, in a side:
  template <bool is_upright>
  struct OfSide {
    const Side& side;
    int thread;
    int begin;

    // Word number `number` that a thread of the warp hands to the instruction; all four of
    // `thread`.
#if defined(__CUDA_ARCH__)
    DTS_BLOCK_CODE void load_words(std::uint32_t (&words)[4]) const {
      load<is_upright>(
          words,
          side,
          left_place<is_upright>(thread, begin, thread % k_warp / k_side, thread % k_side));
    }
#else
    [[nodiscard]] std::uint32_t word_of(int other, int number) const {
      return word<is_upright>(side, other, [&](int line) {
        return left_place<is_upright>(thread, begin, number, line);
      });
    }
#endif
  };

  // in parts of threads:
  template <class Parts>
  struct OfParts {
    Parts& parts;
    int thread;
    int begin;

    DTS_BLOCK_CODE void load_words(std::uint32_t (&words)[4]) const {
      for (int number = 0; number < 4; ++number) words[number] = word_of(thread, number);
    }

    [[nodiscard]] DTS_BLOCK_CODE std::uint32_t word_of(int other, int number) const {
      return parts[other].word(begin, number);
    }
  };

#if defined(__CUDA_ARCH__)
  // Of 16 columns, one for each block of a thread's part.
  template <bool is_right_upright, class Left>
  DTS_BLOCK_CODE static void add(
      Part& part, int thread, const Left& left, const Side& right, int begin) {
    const int number = thread % k_warp / k_side;
    const int line = thread % k_side;
    std::uint32_t of_left[4];
    std::uint32_t of_right[4];
    left.load_words(of_left);
    for (int block = 0; block < Part::k_blocks; block += 2) {
      load<is_right_upright>(
          of_right, right, right_place<is_right_upright>(thread, begin, block, number, line));
      multiply(part.sums[block], of_left, of_right[0], of_right[1]);
      multiply(part.sums[block + 1], of_left, of_right[2], of_right[3]);
    }
  }
#else
  // What the instructions do: values k of a row are those of four threads, two neighbours of each
  // word.
  template <bool is_right_upright, class Left>
  DTS_BLOCK_CODE static void add(
      Part& part, int thread, const Left& left, const Side& right, int begin) {
    const int warp = thread / k_warp * k_warp;
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < k_columns; ++k) {
        const float of_left =
            half_of(left.word_of(thread / 4 * 4 + k % 8 / 2, i / 2 + k / 8 * 2), k % 2);
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

 private:
  static constexpr int k_warp = 32;
  static constexpr int k_side = 8;  // of the matrices that a factor of an instruction is made of

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

  // 0: the lower one.
  [[nodiscard]] DTS_BLOCK_CODE static float half_of(std::uint32_t pair, int half) {
    return value_of(static_cast<Bfloat>(half == 0 ? pair : pair >> 16));
  }
#endif
};

}  // namespace dts::train::accelerator
