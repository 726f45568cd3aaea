// SPDX-License-Identifier: Apache-2.0
// Matrix products on a device, in the precision of a training. For bf16 both factors are rounded
// first, into memory that all products share, unless the array that they are in has a rounded copy,
// or holds rounded values alone.
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

// Of an array [rows][width].
[[nodiscard]] constexpr std::size_t floats_of(int rows, int width) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
}

// out = left right, without gaps between the rows of `out`.
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
          nullptr};
}

// Everything throws DeviceError. The queue must outlive it. Not thread-safe.
class Products {
 public:
  Products(Queue& queue, Precision precision) : queue_(queue), precision_(precision) {}

  // Where factors are rounded to: those on the left and the right of a product, and one of several.
  enum class Place { left, right, once };

  // The most values that a factor of products to come has there, all matrices of a batch together:
  // so that memory runs out before the first step, if it does.
  void reserve(Place place, std::size_t values);

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

  // The copy of `first` is that of `values`, too, which has as many.
  void share_copy(const float* values, const float* first);

  // From now on an array of `count` floats, or more, holds as many Bfloat from its beginning on.
  // That is what all products read and write there, whose addresses are still those of floats.
  // Nothing happens if nothing is rounded.
  void keep_rounded(float* values, std::size_t count);

  // Both arrays of an edge.
  void keep_rounded(const Edge& edge, std::size_t count) {
    keep_rounded(edge.value, count);
    keep_rounded(edge.gradient, count);
  }

  // Where the rounded value of one is: in the array itself or in its copy; nullptr if it has none.
  [[nodiscard]] Bfloat* rounded(const float* value) const;

  // An array as kernels find it, floats or, for products of bf16, those of keep_rounded();
  // std::logic_error if it is not one of those. nullptr stays.
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

  // Rounds a part, of multiples of 16, of an array with a copy, after it was written.
  void round(const float* values, std::size_t count);

  // A factor of several products in a row: rounded where factors are, here and without gaps unless
  // it is already, until the next call.
  [[nodiscard]] dttrain_factor round_once(const float* values, int rows, int columns, int pitch);

  // `product` as of fp32: what its factors are, and what it gives, is changed here. Its bias is in
  // an array with a copy if it gives rounded values; std::logic_error otherwise.
  void multiply(dttrain_product product, Rounded rounded);

  void multiply(const dttrain_product& product) { multiply(product, {}); }

 private:
  struct Copy {
    std::size_t count = 0;
    Bfloat* to = nullptr;
    bool is_all = false;  // instead of floats, in their memory
  };

  // The copy that a value is in; nullptr if it is in none.
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
