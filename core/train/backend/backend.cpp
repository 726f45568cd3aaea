// SPDX-License-Identifier: Apache-2.0
#include "core/train/backend/backend.hpp"

#include "core/train/data/read_ahead.hpp"
#include "core/train/memory/buffer.hpp"

#include <algorithm>
#include <utility>

namespace dts::train {

SampleOrder order_of(const StepInput& input) {
  return {input.seed,
          input.samples.count,
          static_cast<std::uint64_t>(input.batch),
          input.samples.drops_tail()};
}

Objective objective_of(const StepInput& input, const Reads& reads) {
  const auto predictions =
      static_cast<float>(input.batch) * static_cast<float>(reads.predictions());
  return {1.0F / predictions, input.smoothing};
}

void choose_samples(const StepInput& input, int shard, std::span<std::size_t> indices) {
  const SampleOrder order = order_of(input);
  std::uint64_t at = static_cast<std::uint64_t>(shard) * indices.size();
  for (std::size_t& index : indices) {
    index = order.at(input.step, at);
    read_ahead(input.samples, order.at(input.step + 1, at));
    ++at;
  }
}

std::vector<Placement> placements_of(const StepInput& input,
                                     int shard,
                                     std::span<const std::size_t> indices) {
  std::vector<Placement> placements;
  if (!input.augmentation.is_any()) return placements;
  const SampleOrder order = order_of(input);
  std::uint64_t at = static_cast<std::uint64_t>(shard) * indices.size();
  for (const std::size_t index : indices)
    placements.push_back(
        placement_of(input.augmentation, input.seed, order.epoch_of(input.step, at++), index));
  return placements;
}

Range free_after(const GradientBuckets& buckets, std::size_t handed_over) {
  if (handed_over < 2 || !buckets.reuses_memory) return {};
  const Range free = buckets.ranges[handed_over - 2];
  return {free.begin, std::min(free.end + Buffer::k_largest_page, buckets.ranges.front().end)};
}

void begin_walk(Window& window, const std::vector<Range>& reads, int threads) {
  std::vector<Window::Parts> places;
  places.reserve(reads.size());
  for (const Range range : reads) places.push_back(window.parts_of(range.begin, range.end));
  window.begin(std::move(places), threads);
}

}  // namespace dts::train
