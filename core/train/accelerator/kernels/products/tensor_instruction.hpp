// SPDX-License-Identifier: Apache-2.0
// The tensor cores' instruction mma.sync.m16n8k16, whose layout of values in threads is in the PTX
// ISA, section "Matrix Fragments for mma.m16n8k16", and ldmatrix, which loads them from shared
// memory. The device chooses the order of sums within an instruction, always the same; on the host
// it is the order of the columns.
#pragma once

#include "core/train/accelerator/kernels/products/tensor_part.hpp"

namespace dts::train::accelerator {

template <int warps_per_row>
struct TensorInstruction {
  using Part = TensorPartOf<warps_per_row>;

  static constexpr int k_columns = 16;  // of one instruction
  static constexpr int k_side_columns = 64;

  // [row][pair of columns], with the first of a pair in the lower half; for an upright factor,
  // [column][pair of rows]. The gap spreads a warp's reads over all banks.
  struct alignas(16) Side {
    static constexpr int k_pitch = k_side_columns / 2 + 4;

    std::uint32_t words[k_tile][k_pitch];
  };

  // The left factor of an instruction, loaded from a side:
  template <bool is_upright>
  struct OfSide {
    const Side& side;
    int thread;
    int begin;

    // On a device, all four words that `thread` passes to the instruction; on the host, one word of
    // any thread of its warp.
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

  // The same from the parts that threads keep:
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
  // Adds 16 columns of the product: one instruction for each block of a thread's part.
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
  // Computes what the instructions do. Columns of a row are held by four threads, two neighbours
  // per word.
  template <bool is_right_upright, class Left>
  DTS_BLOCK_CODE static void add(
      Part& part, int thread, const Left& left, const Side& right, int begin) {
    const int warp = thread / k_warp * k_warp;
    for (int pair = 0; pair < k_columns / 2; ++pair) {
      const int holder = pair % 4;
      const int half = pair / 4;
      const std::uint32_t of_left[] = {left.word_of(thread / 4 * 4 + holder, half * 2),
                                       left.word_of(thread / 4 * 4 + holder, half * 2 + 1)};
      for (int block = 0; block < Part::k_blocks; ++block)
        for (int column = 0; column < 2; ++column) {
          const std::uint32_t of_right = word<is_right_upright>(
              right, warp + (thread % 4 * 2 + column) * 4 + holder, [&](int line) {
                return right_place<is_right_upright>(
                    thread, begin, block / 2 * 2, block % 2 * 2 + half, line);
              });
          for (int row = 0; row < 2; ++row) {
            float& sum = part.sums[block][row * 2 + column];
            sum += half_of(of_left[row], 0) * half_of(of_right, 0);
            sum += half_of(of_left[row], 1) * half_of(of_right, 1);
          }
        }
    }
  }
#endif

 private:
  static constexpr int k_warp = 32;
  static constexpr int k_side = 8;  // rows of the matrices in a factor of an instruction

  // The address of eight values.
  struct Place {
    int line = 0;
    int word = 0;
  };

  // The place of line `line` of 8 x 8 matrix `number` in the factors of a warp's instruction. The
  // left factor has four matrices; the right factors of two blocks have two each.
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
  // Loads four matrices, whose lines begin at the addresses that eight threads each pass. A thread
  // gets two neighbours of line (thread % 32) / 4 of each, or, of an upright factor, of that
  // column.
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
  // The word of a matrix that a thread gets. place_of(line) returns where a line begins.
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

  // `half` is 0 for the lower half.
  [[nodiscard]] DTS_BLOCK_CODE static float half_of(std::uint32_t pair, int half) {
    return value_of(static_cast<Bfloat>(half == 0 ? pair : pair >> 16));
  }
#endif
};

}  // namespace dts::train::accelerator
