// SPDX-License-Identifier: Apache-2.0
// The instructions of tensor cores, as the PTX ISA defines them for a whole warp: ldmatrix (section
// "Warp-level matrix load instruction: ldmatrix") and mma.m16n8k16 for bf16 ("Matrix Fragments for
// mma.m16n8k16 with floating point type").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ptx {

// Eight values of 16 bits from the address of each thread: lines of four 8 x 8 matrices.
using Lines = std::array<std::array<std::uint16_t, 8>, 32>;

// The word of matrix `number` that a thread gets.
[[nodiscard]] std::uint32_t loaded_word(const Lines& lines,
                                        int lane,
                                        int number,
                                        bool is_transposed);

// What each thread passes to mma: four words of the left factor, two of the right, four sums.
inline constexpr std::size_t k_fragment = 10;
using Fragments = std::array<std::array<std::uint32_t, k_fragment>, 32>;

// Sum `number` that a thread gets. A device chooses the order of sums; here they are in double
// precision.
[[nodiscard]] std::uint32_t product_word(const Fragments& fragments, int lane, int number);

}  // namespace ptx
