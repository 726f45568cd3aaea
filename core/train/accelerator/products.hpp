// SPDX-License-Identifier: Apache-2.0
// Matrix products on a device, in the precision of a training. For bf16 both factors are first
// rounded into memory that all products share, unless their array has a rounded copy, or holds only
// rounded values.
#pragma once

#include "core/train/accelerator/queue/queue.hpp"
#include "core/train/device/instruction_set.hpp"
#include "core/train/model/blocks.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <type_traits>
#include <utility>

namespace dts::train::accelerator {

// The number of elements of an array [rows][width].
[[nodiscard]] constexpr std::size_t floats_of(int rows, int width) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
}

// The product out = left right, where `out` has no gaps between rows.
[[nodiscard]] inline dttrain_product packed_product(const dttrain_factor& left,
                                                    const dttrain_factor& right,
                                                    float* out,
                                                    int rows,
                                                    int columns,
                                                    int inner) {
  return {left,
          right,
          out,
          rows,
          columns,
          inner,
          columns,
          0,
          1,
          DTTRAIN_FP32,
          0,
          nullptr,
          nullptr,
          DTTRAIN_STRAIGHT,
          nullptr,
          nullptr,
          0};
}

// Every function may throw DeviceError. The queue must outlive this. Not thread-safe.
class Products {
 public:
  Products(Queue& queue, Precision precision) : queue_(queue), precision_(precision) {}

  // Memory for rounded factors: of a product's left and right factor, and for round_once().
  enum class Place { left, right, once };

  // Allocates memory for factors with up to `values` values, all matrices of a batch together, so
  // that a lack of memory is found before the first step.
  void reserve(Place place, std::size_t values);

  // Whether factors are rounded to bf16.
  [[nodiscard]] bool rounds() const { return precision_ == Precision::bf16; }

  // Which factors are Bfloat already; only if rounds().
  struct Rounded {
    bool left = false;
    bool right = false;
  };

  // Allocates a rounded copy of an array, from which products read it. Whoever writes to the array
  // must call round(). Returns nullptr if nothing is rounded.
  [[nodiscard]] Bfloat* keep_copy(const float* values, std::size_t count);

  // Makes the copy of `first` the copy of `values` as well, which must have the same size.
  void share_copy(const float* values, const float* first);

  // From now on an array of at least `count` floats holds `count` Bfloat, from its beginning. All
  // products read and write these, but still take the addresses of floats. Does nothing if nothing
  // is rounded.
  void keep_rounded(float* values, std::size_t count);

  // The same for both arrays of an edge.
  void keep_rounded(const Edge& edge, std::size_t count) {
    keep_rounded(edge.value, count);
    keep_rounded(edge.gradient, count);
  }

  // The address of a value's rounded form, in the array itself or in its copy; nullptr if it has
  // none.
  [[nodiscard]] Bfloat* rounded(const float* value) const;

  // The array as kernels read it: floats or, if Value is Bfloat, the values of keep_rounded().
  // std::logic_error if it does not have them. nullptr is returned as is.
  template <class Value>
  [[nodiscard]] Value* as(float* at) const {
    if constexpr (std::is_same_v<Value, float>)
      return at;
    else
      return rounded_in_place(at);
  }

  template <class Value>
  [[nodiscard]] const Value* as(const float* at) const {
    if constexpr (std::is_same_v<Value, float>)
      return at;
    else
      return rounded_in_place(at);
  }

  // Rounds a part of an array with a copy, after it was written. The part is in multiples of 16.
  void round(const float* values, std::size_t count);

  // A factor of several consecutive products. Unless it is rounded already, this rounds it, without
  // gaps, into memory that is valid until the next call. Does nothing if nothing is rounded.
  [[nodiscard]] dttrain_factor round_once(const float* values, int rows, int columns, int pitch);

  // Computes a product that is given as if everything were fp32; the types of factors and output
  // are adapted here. If the output is rounded, the bias must be in an array with a rounded copy;
  // otherwise std::logic_error.
  void multiply(dttrain_product product, Rounded rounded);

  void multiply(const dttrain_product& product) { multiply(product, {}); }

 private:
  struct Copy {
    std::size_t count = 0;
    Bfloat* to = nullptr;
    bool is_all = false;  // the values replace the floats in their memory
  };

  // The copy that has the value; nullptr if none has.
  [[nodiscard]] const std::pair<const float* const, Copy>* copy_of(const float* value) const;

  [[nodiscard]] Bfloat* rounded_in_place(const float* at) const;
  void round_result(dttrain_product& product) const;
  void round(dttrain_factor& factor, int rows, int columns, int count, Place place);
  void launch_rounding(const RoundMatrices& matrices);

  Queue& queue_;
  Precision precision_;

  struct Room {
    std::size_t values = 0;
    Bfloat* at = nullptr;
  };

  [[nodiscard]] Room& room(Place place) { return rooms_[static_cast<std::size_t>(place)]; }

  std::array<Room, 3> rooms_;
  std::map<const float*, Copy> copies_;
};

}  // namespace dts::train::accelerator
