// SPDX-License-Identifier: Apache-2.0
// Kernels that add, copy and round arrays.
#pragma once

#include "core/train/accelerator/kernels/fours.hpp"

namespace dts::train::accelerator {

// sums += others: an addition in the tree over shards.
template <class Value>
struct Add : Fourwise {
  Value* sums = nullptr;
  const Value* others = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::writes(visit, sums, count);
    accelerator::reads(visit, others, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    const bool aligned = is_aligned<Four::k_count>(sums) && is_aligned<Four::k_count>(others);
    for_each(block, [&](std::size_t first, int valid) {
      const Four sum =
          read_few(sums + first, valid, aligned) + read_few(others + first, valid, aligned);
      write_few(sums + first, sum.values, valid, aligned);
    });
  }
};

// to = the sum of `runs` consecutive arrays of `count` values. First adds up, in order, the arrays
// with equal index modulo k_lanes, then these k_lanes sums along a tree.
struct AddRuns : Fourwise {
  static constexpr int k_lanes = 8;

  int runs = 0;
  const float* from = nullptr;
  float* to = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, from, static_cast<std::size_t>(runs) * count);
    accelerator::writes(visit, to, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    const bool aligned = count % Four::k_count == 0 && is_aligned<Four::k_count>(from) &&
                         is_aligned<Four::k_count>(to);
    for_each(block, [&](std::size_t first, int valid) {
      Four sums[k_lanes];
      const auto add = [&](const auto& read) {
        for (int begin = 0; begin < runs; begin += k_lanes)
          for (int i = 0; i < k_lanes; ++i)
            if (begin + i < runs)
              sums[i] = sums[i] + read(from + static_cast<std::size_t>(begin + i) * count + first);
      };
      if (aligned)
        add([](const float* at) { return read_four(at, Four::k_count); });
      else
        add([&](const float* at) { return read_few(at, valid, false); });
      for (int left = k_lanes / 2; left > 0; left /= 2)
        for (int i = 0; i < left; ++i) sums[i] = sums[i] + sums[i + left];
      write_few(to + first, sums[0].values, valid, aligned);
    });
  }
};

// to = from
template <class Value>
struct Copy : Elementwise {
  const Value* from = nullptr;
  Value* to = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, from, count);
    accelerator::writes(visit, to, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) { to[i] = from[i]; });
  }
};

// to = from, rounded
struct Round : Fourwise {
  const float* from = nullptr;
  Bfloat* to = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, from, count);
    accelerator::writes(visit, to, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    const bool aligned = is_aligned<Four::k_count>(from) && is_aligned<Four::k_count>(to);
    for_each(block, [&](std::size_t first, int valid) {
      write_few(to + first, read_few(from + first, valid, aligned).values, valid, aligned);
    });
  }
};

}  // namespace dts::train::accelerator
