// SPDX-License-Identifier: Apache-2.0
// Matrix products of fp32 arrays on a device, in the precision of a training: for bf16 both factors
// are rounded first, into memory that all products share.
#pragma once

#include "core/train/accelerator/queue.hpp"
#include "core/train/device/instruction_set.hpp"

#include <array>
#include <cstddef>

namespace dts::train::accelerator {

// Everything throws DeviceError. The queue must outlive it. Not thread-safe.
class Products {
 public:
  Products(Queue& queue, Precision precision) : queue_(queue), precision_(precision) {}

  // The most values that a factor of products to come has, all matrices of a batch together: so
  // that memory runs out before the first step, if it does.
  void reserve(std::size_t values);

  // Whether factors are rounded to bf16.
  [[nodiscard]] bool rounds() const { return precision_ == Precision::bf16; }

  // Factors that are Bfloat already; only where rounds().
  struct Rounded {
    bool left = false;
    bool right = false;
  };

  // `product` as of fp32: what its factors are is changed here.
  void multiply(dttrain_product product, Rounded rounded);

  void multiply(const dttrain_product& product) { multiply(product, {}); }

 private:
  void round(dttrain_factor& factor, int rows, int columns, int count, Bfloat* to);

  Queue& queue_;
  Precision precision_;
  std::size_t room_ = 0;
  std::array<Bfloat*, 2> rounded_{};  // of left and right factors
};

}  // namespace dts::train::accelerator
