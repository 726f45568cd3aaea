// SPDX-License-Identifier: Apache-2.0
// Matrix products of fp32 arrays on a device, in the precision of a training. For bf16 both factors
// are rounded first, into memory that all products share, unless there is a rounded copy of the
// array that they are in.
#pragma once

#include "core/train/accelerator/queue/queue.hpp"
#include "core/train/device/instruction_set.hpp"

#include <array>
#include <cstddef>
#include <map>

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

  // A copy of an array that stays, which whoever writes there rounds, too: factors within are read
  // from it. nullptr if nothing is rounded.
  [[nodiscard]] Bfloat* keep_copy(const float* values, std::size_t count);

  // Rounds a part, of multiples of 16, of an array with a copy, after it was written.
  void round(const float* values, std::size_t count);

  // A factor of several products in a row, without gaps: rounded here where factors are, until the
  // next call.
  [[nodiscard]] const void* round_once(const float* values, int rows, int columns);

  // `product` as of fp32: what its factors are is changed here.
  void multiply(dttrain_product product, Rounded rounded);

  void multiply(const dttrain_product& product) { multiply(product, {}); }

 private:
  struct Copy {
    std::size_t count = 0;
    Bfloat* to = nullptr;
  };

  // Where the copy of a value is; nullptr if there is none.
  [[nodiscard]] Bfloat* copy_of(const float* value) const;

  void round(dttrain_factor& factor, int rows, int columns, int count, Bfloat* to);

  Queue& queue_;
  Precision precision_;
  std::size_t room_ = 0;
  std::array<Bfloat*, 3> rounded_{};  // of left and right factors, and round_once()
  std::map<const float*, Copy> copies_;
};

}  // namespace dts::train::accelerator
