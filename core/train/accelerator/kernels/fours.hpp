// SPDX-License-Identifier: Apache-2.0
// Kernels of single elements in which a thread has four neighbours, so that it reads and writes 8
// or 16 bytes at once, because moving memory determines their time.
#pragma once

#include "core/train/accelerator/kernels/rounding.hpp"

#include <type_traits>

namespace dts::train::accelerator {

struct Four {
  static constexpr int k_count = 4;

  float values[k_count] = {};

  [[nodiscard]] DTS_BLOCK_CODE Four operator+(const Four& other) const {
    Four sum;
    for (int i = 0; i < k_count; ++i) sum.values[i] = values[i] + other.values[i];
    return sum;
  }
};

// Neighbours as they are stored in an array, for a single memory access.
template <class Value, int count>
struct alignas(count * sizeof(Value)) StoredFew {
  Value values[count];
};

template <class Value>
using StoredFour = StoredFew<Value, Four::k_count>;

template <class Value, int count>
[[nodiscard]] DTS_BLOCK_CODE StoredFew<Value, count> stored(const float (&values)[count]) {
  StoredFew<Value, count> few;
  if constexpr (std::is_same_v<Value, Bfloat>) {
    static_assert(count % 2 == 0);
    std::uint32_t pairs[count / 2];
    for (int i = 0; i < count; i += 2) pairs[i / 2] = rounded_pair(values[i], values[i + 1]);
    memcpy(&few, pairs, sizeof few);
  } else {
    for (int i = 0; i < count; ++i) few.values[i] = values[i];
  }
  return few;
}

// Reads `count` of four values from an array that is aligned for four. Loops always have four
// iterations, so that devices keep the values in registers.
template <class Value>
[[nodiscard]] DTS_BLOCK_CODE Four read_four(const Value* at, int count) {
  StoredFour<Value> stored{};
  if (count == Four::k_count)
    stored = *reinterpret_cast<const StoredFour<Value>*>(at);
  else
    for (int i = 0; i < Four::k_count; ++i)
      if (i < count) stored.values[i] = at[i];
  Four four;
  for (int i = 0; i < Four::k_count; ++i) four.values[i] = value_of(stored.values[i]);
  return four;
}

template <class Value>
DTS_BLOCK_CODE void write_four(Value* at, const Four& four, int count) {
  const StoredFour<Value> all = stored<Value>(four.values);
  if (count == Four::k_count)
    *reinterpret_cast<StoredFour<Value>*>(at) = all;
  else
    for (int i = 0; i < Four::k_count; ++i)
      if (i < count) at[i] = all.values[i];
}

// Whether runs of `count` values, from the beginning of the row on, are aligned to their size.
template <int count, class Value>
[[nodiscard]] DTS_BLOCK_CODE bool is_aligned(const Value* row) {
  return reinterpret_cast<std::uintptr_t>(row) % sizeof(StoredFew<Value, count>) == 0;
}

// Writes the values whose index is below `valid`, all at once if `aligned` says that their row is
// aligned for it.
template <class Value, int count>
DTS_BLOCK_CODE void write_few(Value* at, const float (&values)[count], int valid, bool aligned) {
  const StoredFew<Value, count> all = stored<Value>(values);
  if (aligned && valid >= count)
    *reinterpret_cast<StoredFew<Value, count>*>(at) = all;
  else
    for (int i = 0; i < count; ++i)
      if (i < valid) at[i] = all.values[i];
}

// Reads the values whose index is below `valid`, and zeros for the others; likewise.
template <class Value>
[[nodiscard]] DTS_BLOCK_CODE Four read_few(const Value* at, int valid, bool aligned) {
  if (aligned && valid >= Four::k_count) return read_four(at, Four::k_count);
  Four four;
  for (int i = 0; i < Four::k_count; ++i)
    if (i < valid) four.values[i] = value_of(at[i]);
  return four;
}

// The base of kernels that compute each of `count` elements separately.
struct Fourwise {
  static constexpr int k_threads = k_block_threads;

  struct Shared {};

  std::size_t count = 0;

  [[nodiscard]] std::size_t blocks() const {
    return blocks_of(count, std::size_t{k_threads} * Four::k_count);
  }

  // Calls work(first element, number of elements) for a thread's elements.
  template <class Block, class Work>
  DTS_BLOCK_CODE void for_each(const Block& block, const Work& work) const {
    block.each([&](int thread) {
      const std::size_t i =
          (block.index() * k_threads + static_cast<std::size_t>(thread)) * Four::k_count;
      if (i + Four::k_count <= count)
        work(i, Four::k_count);
      else if (i < count)
        work(i, static_cast<int>(count - i));
    });
  }
};

}  // namespace dts::train::accelerator
