// SPDX-License-Identifier: Apache-2.0
// Kernels of single elements that have four neighbours a thread, so that it reads and writes 8 or
// 16 bytes at once: what they take is what moving memory does.
#pragma once

#include "core/train/accelerator/kernels/rounding.hpp"

namespace dts::train::accelerator {

struct Four {
  static constexpr int k_count = 4;

  float values[k_count] = {};
};

// As they are in an array: one access of memory.
template <class Value, int count>
struct alignas(count * sizeof(Value)) StoredFew {
  Value values[count];
};

template <class Value>
using StoredFour = StoredFew<Value, Four::k_count>;

// Of an array that suits a vector of four, of which `count` are there. Loops are over all four, so
// that devices keep them in registers.
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
  StoredFour<Value> stored;
  for (int i = 0; i < Four::k_count; ++i) put(stored.values[i], four.values[i]);
  if (count == Four::k_count)
    *reinterpret_cast<StoredFour<Value>*>(at) = stored;
  else
    for (int i = 0; i < Four::k_count; ++i)
      if (i < count) at[i] = stored.values[i];
}

// Whether a row has such neighbours, from multiples of `count` on, at multiples of their size.
template <int count, class Value>
[[nodiscard]] DTS_BLOCK_CODE bool suits_few(const Value* row) {
  return reinterpret_cast<std::uintptr_t>(row) % sizeof(StoredFew<Value, count>) == 0;
}

// Writes those of some neighbours that are below `there`: all at once where their row suits that.
template <class Value, int count>
DTS_BLOCK_CODE void write_few(Value* at, const float (&values)[count], int there, bool suits) {
  StoredFew<Value, count> stored;
  for (int i = 0; i < count; ++i) put(stored.values[i], values[i]);
  if (suits && there >= count)
    *reinterpret_cast<StoredFew<Value, count>*>(at) = stored;
  else
    for (int i = 0; i < count; ++i)
      if (i < there) at[i] = stored.values[i];
}

// The base of kernels that compute each of `count` elements alone.
struct Fourwise {
  static constexpr int k_threads = k_block_threads;

  struct Shared {};

  std::size_t count = 0;

  [[nodiscard]] std::size_t blocks() const {
    return blocks_of(count, std::size_t{k_threads} * Four::k_count);
  }

  // Calls work(first element, how many from there are a thread's).
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
