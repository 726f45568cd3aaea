// SPDX-License-Identifier: Apache-2.0
// Products of factors rounded to bf16, with sums in fp32. On devices tensor cores compute them:
// each warp computes 16 rows, and all columns or half of them (tensor_instruction.hpp).
#pragma once

#include "core/train/accelerator/kernels/products/tensor_instruction.hpp"

#include <type_traits>

namespace dts::train::accelerator {

template <int warps_per_row>
struct TensorFactorsOf {
  using Instruction = TensorInstruction<warps_per_row>;
  using Part = typename Instruction::Part;
  using Side = typename Instruction::Side;
  using Stored = Bfloat;

  static constexpr int k_threads = 128 * warps_per_row;

  // A thread's part of two rows is its part of the instruction's left factor.
  static constexpr bool k_multiplies_parts = warps_per_row == 1;

  static constexpr int k_columns = Instruction::k_side_columns;
  static constexpr int k_pairs = k_columns / 2;

  struct PartsSide {};  // not needed

  template <class Factor>
  DTS_BLOCK_CODE static void fetch(Side& to, int thread, const Factor& factor, int begin, int end) {
    static_assert(k_columns == k_tile);
    if (factor.allows_eights(end)) {
      constexpr int k_eights = k_columns / Eight::k_count;
      DTS_UNROLLED(1)
      for (int i = thread; i < k_eights * k_tile; i += k_threads) {
        const int line = i / k_eights;
        const int first = i % k_eights * Eight::k_count;
        fetch_eight(&to.words[line][first / 2],
                    Factor::k_is_upright ? place_of(factor, first, begin + line, end)
                                         : place_of(factor, line, begin + first, end));
      }
      return;
    }
    DTS_UNROLLED(warps_per_row)
    for (int i = thread; i < k_pairs * k_tile; i += k_threads) {
      const int line = i / k_pairs;
      const int first = i % k_pairs * 2;
      to.words[line][first / 2] = Factor::k_is_upright
                                      ? rounded_pair(value(factor, first, begin + line, end),
                                                     value(factor, first + 1, begin + line, end))
                                      : rounded_pair(value(factor, line, begin + first, end),
                                                     value(factor, line, begin + first + 1, end));
    }
  }

  DTS_BLOCK_CODE static void wait() {
#if defined(__CUDA_ARCH__)
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  }

  template <bool is_left_upright, bool is_right_upright>
  DTS_BLOCK_CODE static void add(
      Part& part, int thread, const Side& left, const Side& right, int columns) {
    DTS_UNROLLED(2)
    for (int begin = 0; begin < columns; begin += Instruction::k_columns)
      Instruction::template add<is_right_upright>(
          part,
          thread,
          typename Instruction::template OfSide<is_left_upright>{left, thread, begin},
          right,
          begin);
  }

  // The same with a left factor that threads keep, which has all columns of the product.
  template <bool is_right_upright, class Parts>
  DTS_BLOCK_CODE static void add_of_parts(
      Part& part, int thread, Parts& left, const Side& right, int columns) {
    for (int begin = 0; begin < k_columns; begin += Instruction::k_columns)
      if (begin < columns)
        Instruction::template add<is_right_upright>(
            part,
            thread,
            typename Instruction::template OfParts<Parts>{left, thread, begin},
            right,
            begin);
  }

 private:
  template <class Factor>
  [[nodiscard]] DTS_BLOCK_CODE static float value(const Factor& factor,
                                                  int row,
                                                  int column,
                                                  int end) {
    return row < factor.rows && column < end ? factor(row, column) : 0.0F;
  }

  // The address of eight neighbours; nullptr for zeros.
  template <class Factor>
  [[nodiscard]] DTS_BLOCK_CODE static auto place_of(const Factor& factor,
                                                    int row,
                                                    int column,
                                                    int end) {
    return row < factor.rows && column < end ? factor.at(row, column) : nullptr;
  }

  template <class Value>
  DTS_BLOCK_CODE static void fetch_eight(std::uint32_t* to, const Value* from) {
#if defined(__CUDA_ARCH__)
    // Rounded values are copied without passing through registers.
    if constexpr (std::is_same_v<Value, Bfloat>)
      if (from != nullptr) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16;"
                     :
                     : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                       "l"(__cvta_generic_to_global(from))
                     : "memory");
        return;
      }
#endif
    const Eight eight = from == nullptr ? Eight{} : read_eight(from);
    for (int pair = 0; pair < Eight::k_pairs; ++pair) to[pair] = eight.pairs[pair];
  }
};

// With 256 threads: for convolutions, whose products have few columns.
using TensorFactors = TensorFactorsOf<2>;
using TensorPart = TensorFactors::Part;

// With 128 threads: for attention, where a product is the left factor of the next one.
using TensorRowFactors = TensorFactorsOf<1>;

}  // namespace dts::train::accelerator
