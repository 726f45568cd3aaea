// SPDX-License-Identifier: Apache-2.0
// The gradient of a matrix of weights on a device: a product with sums over all rows of a shard. An
// algorithm that does not split sums, the only kind that is used, assigns each tile of a small
// matrix to one multiprocessor and leaves the others idle. Therefore runs of rows become separate
// products, computed side by side, whose results are added up in order.
#pragma once

#include "core/train/accelerator/products.hpp"

#include <cstddef>

namespace dts::train::accelerator {

// Every function may throw DeviceError. Queue and products must outlive this. Not thread-safe.
class WeightGradient {
 public:
  // For a gradient [in][out] from factors with `rows` rows. `scratch` has floats(rows, in, out);
  // its content is lost between calls.
  WeightGradient(Queue& queue, Products& products, int rows, int in, int out, float* scratch)
      : queue_(queue),
        products_(products),
        rows_(rows),
        in_(in),
        out_(out),
        runs_(runs_of(rows, in, out)),
        scratch_(scratch) {}

  // The number of products. It depends only on shapes, since the bits depend on it.
  [[nodiscard]] static int runs_of(int rows, int in, int out) {
    constexpr int k_side = 128;  // of the tile of one multiprocessor in most algorithms
    constexpr int k_many = 160;  // tiles that keep most of a device busy
    constexpr int k_enough = 200;
    constexpr int k_fewest_rows = 1024;
    const int tiles = ((in + k_side - 1) / k_side) * ((out + k_side - 1) / k_side);
    if (tiles >= k_many) return 1;
    int runs = 1;
    while (tiles * runs < k_enough && rows % (2 * runs) == 0 && rows / (2 * runs) >= k_fewest_rows)
      runs *= 2;
    return runs;
  }

  [[nodiscard]] static std::size_t floats(int rows, int in, int out) {
    const int runs = runs_of(rows, in, out);
    return runs == 1 ? 0 : static_cast<std::size_t>(runs) * floats_of(in, out);
  }

  // Computes to = left^T right, for factors [rows][in] and [rows][out].
  void multiply(dttrain_factor left, dttrain_factor right, Products::Rounded rounded, float* to) {
    const int each = rows_ / runs_;
    left.is_transposed = 1;
    left.stride = std::int64_t{each} * left.pitch;
    right.stride = std::int64_t{each} * right.pitch;
    dttrain_product product =
        packed_product(left, right, runs_ == 1 ? to : scratch_, in_, out_, each);
    product.count = runs_;
    product.stride = static_cast<std::int64_t>(floats_of(in_, out_));
    products_.multiply(product, rounded);
    if (runs_ > 1) queue_.launch(AddRuns{{floats_of(in_, out_)}, runs_, scratch_, to});
  }

 private:
  Queue& queue_;
  Products& products_;
  int rows_;
  int in_;
  int out_;
  int runs_;
  float* scratch_;
};

}  // namespace dts::train::accelerator
