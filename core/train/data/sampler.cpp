// SPDX-License-Identifier: Apache-2.0
// A Feistel permutation with cycle walking.
#include "core/train/data/sampler.hpp"

#include <bit>

namespace dts::train {
namespace {

constexpr int k_rounds = 6;

std::uint64_t permute(std::uint64_t key, std::uint64_t value, int half_bits) {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t left = value >> half_bits;
  std::uint64_t right = value & mask;
  for (std::uint64_t round = 0; round < k_rounds; ++round) {
    const std::uint64_t next = left ^ (mix(key ^ mix(right + (round << 56))) & mask);
    left = right;
    right = next;
  }
  return (left << half_bits) | right;
}

}  // namespace

std::uint64_t sample_index(std::uint64_t seed,
                           std::uint64_t epoch,
                           std::uint64_t index,
                           std::uint64_t count) {
  const std::uint64_t key = mix(mix(seed) ^ epoch);
  const int half_bits = (static_cast<int>(std::bit_width(count - 1)) + 1) / 2;
  if (half_bits == 0) return 0;
  do {
    index = permute(key, index, half_bits);
  } while (index >= count);
  return index;
}

std::uint64_t SampleOrder::at(std::uint64_t step, std::uint64_t position) const {
  if (drops_tail) {
    const std::uint64_t steps = count / batch;
    return sample_index(seed, step / steps, step % steps * batch + position, count);
  }
  const std::uint64_t drawn = step * batch + position;
  return sample_index(seed, drawn / count, drawn % count, count);
}

std::uint64_t SampleOrder::epoch_of(std::uint64_t step, std::uint64_t position) const {
  return drops_tail ? step / (count / batch) : (step * batch + position) / count;
}

std::uint64_t SampleOrder::steps_of(std::uint64_t epochs) const {
  return drops_tail ? epochs * (count / batch) : (epochs * count + batch - 1) / batch;
}

}  // namespace dts::train
