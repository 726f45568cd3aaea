// SPDX-License-Identifier: Apache-2.0
// The kernels of one instruction set.
#pragma once

#include "core/train/device/image_kernels.hpp"
#include "core/train/device/instruction_set.hpp"
#include "core/train/device/kernels.hpp"
#include "core/train/device/optimizer_kernels.hpp"
#include "core/train/device/token_kernels.hpp"

namespace dts::train {

struct KernelTable {
  decltype(&train::add) add;
  decltype(&train::sgd) sgd;
  decltype(&train::checksum) checksum;
  decltype(&train::sum_squares) sum_squares;
  decltype(&train::conv3x3_first_forward) conv3x3_first_forward;
  decltype(&train::conv3x3_first_backward) conv3x3_first_backward;
  decltype(&train::channel_statistics) channel_statistics;
  decltype(&train::bn_relu_pool_forward) bn_relu_pool_forward;
  decltype(&train::bn_relu_pool_backward) bn_relu_pool_backward;
  decltype(&train::relu_backward) relu_backward;
  decltype(&train::sum_rows) sum_rows;
  decltype(&train::round_to_bf16) round_to_bf16;
  decltype(&train::normalise_image) normalise_image;
  ImageKernels images;
  OptimizerKernels optimizer;
  TokenKernels tokens;
};

// Takes effect immediately; called by use_instruction_set().
void select_kernels(InstructionSet set);

namespace avx512 {
[[nodiscard]] const KernelTable& table();
}

namespace avx2 {
[[nodiscard]] const KernelTable& table();
}

namespace portable {
[[nodiscard]] const KernelTable& table();
}

}  // namespace dts::train
