// SPDX-License-Identifier: Apache-2.0
// Selects the kernels for this processor.
#include "core/train/device/kernels.hpp"

#include "core/train/device/kernel_table.hpp"

namespace dts::train {
namespace {

const KernelTable& table_of(InstructionSet set) {
  switch (set) {
#if defined(__x86_64__)
    case InstructionSet::avx512:
      return avx512::table();
    case InstructionSet::avx2:
      return avx2::table();
#endif
    default:
      return portable::table();
  }
}

const KernelTable*& selected() {
  static const KernelTable* table = &table_of(best_instruction_set());
  return table;
}

const KernelTable& chosen() {
  return *selected();
}

}  // namespace

void select_kernels(InstructionSet set) {
  selected() = &table_of(set);
}

void add(float* sums, const float* left, const float* right, std::size_t count) {
  chosen().add(sums, left, right, count);
}

const ImageKernels& image_kernels() {
  return chosen().images;
}

const OptimizerKernels& optimizer_kernels() {
  return chosen().optimizer;
}

const TokenKernels& token_kernels() {
  return chosen().tokens;
}

void sgd(const Parameters& next, const CurrentParameters& now, const Gradients& by) {
  chosen().sgd(next, now, by);
}

std::uint64_t checksum(const float* values, std::size_t count) {
  return chosen().checksum(values, count);
}

double sum_squares(const float* values, std::size_t count) {
  return chosen().sum_squares(values, count);
}

void conv3x3_first_forward(const Images& shape,
                           const float* padded,
                           const float* weights,
                           float* out) {
  chosen().conv3x3_first_forward(shape, padded, weights, out);
}

void conv3x3_first_backward(const Images& shape,
                            const float* padded,
                            const float* d_out,
                            float* d_weights) {
  chosen().conv3x3_first_backward(shape, padded, d_out, d_weights);
}

void channel_statistics(const Images& shape, const float* x, float* mean, float* variance) {
  chosen().channel_statistics(shape, x, mean, variance);
}

void bn_relu_pool_forward(const Images& shape, const float* x, const BatchNorm& bn, float* out) {
  chosen().bn_relu_pool_forward(shape, x, bn, out);
}

void bn_relu_pool_backward(const Images& shape,
                           const float* x,
                           const BatchNorm& bn,
                           const float* d_out,
                           float* d_x,
                           float* d_gamma,
                           float* d_beta) {
  chosen().bn_relu_pool_backward(shape, x, bn, d_out, d_x, d_gamma, d_beta);
}

void relu_backward(const float* y, float* d, std::size_t count) {
  chosen().relu_backward(y, d, count);
}

void sum_rows(const float* matrix, int rows, int columns, float* sums) {
  chosen().sum_rows(matrix, rows, columns, sums);
}

void round_to_bf16(const float* from, std::size_t count, Bf16* to) {
  chosen().round_to_bf16(from, count, to);
}

void normalise_image(
    const std::uint8_t* pixels, const ImageSize& size, float mean, float deviation, float* out) {
  chosen().normalise_image(pixels, size, mean, deviation, out);
}

}  // namespace dts::train
