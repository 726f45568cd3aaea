// SPDX-License-Identifier: Apache-2.0
// ShardSums: hands over gradients while the last shard of each thread is in its backward pass. Once
// a range is final there, it is added to the sums that wait for it, along the usual tree; a
// bucket is handed over when all threads have completed it. Only the thread that called sum() does
// so, in its own backward pass or at the end, because only that thread may use MPI.
#include "core/train/backend/shard_sums.hpp"
#include "core/train/device/kernels.hpp"

#include <algorithm>

namespace dts::train {

void ShardSums::prepare_buckets(const StepInput& input, Span run) {
  const std::size_t count = input.buckets == nullptr ? 0 : input.buckets->ranges.size();
  handed_over_ = 0;
  if (unfinished_.size() != count) unfinished_ = std::vector<std::atomic<int>>(count);
  int active = 0;
  const bool reuses_memory = count > 0 && input.buckets->reuses_memory;
  // The sums of a single shard are changed or examined when they are complete. They must not be
  // handed over before, since hand_over() adds those of other threads to them.
  const bool is_looked_at =
      !reuses_memory &&
      (input.miscomputed || (team_.size() > 1 && (input.audited >= 0 || input.with_squares)));
  for (int index = 0; index < team_.size(); ++index) {
    Worker& worker = workers_[static_cast<std::size_t>(index)];
    for (const auto& [node, sums] : worker.partials) worker.unused.push_back(sums);
    worker.partials.clear();
    worker.summed = 0;
    worker.last_shard = -1;
    worker.is_sparse = reuses_memory;
    const Span part = part_for(run, index);
    const bool passes_by = run.size() == 0 && index == 0 && input.window != nullptr;
    if (count == 0 || (part.size() == 0 && !passes_by) || is_looked_at) continue;
    ++active;
    worker.last_shard = part.hi - 1;
    if (!passes_by) worker.last_node = maximal_nodes(shards_, part).back();
    worker.missing.clear();
    for (const Range one : input.buckets->ranges) worker.missing.push_back(one.size());
  }
  // If no thread can hand over early, all buckets are handed over at the end.
  for (auto& one : unfinished_) one.store(active == 0 ? 1 : active, std::memory_order_relaxed);
}

// Runs on the thread of `worker`: `range` of `sums`, the gradients of its last shard, is final.
void ShardSums::carry(Worker& worker, const StepInput& input, float* sums, Range range) {
  if (worker.is_sparse) look_at(worker, input, sums, range);
  const float* right = sums;
  for (auto left = worker.pending.rbegin(); left != worker.pending.rend(); right = *left++)
    add(*left + range.begin, *left + range.begin, right + range.begin, range.size());
  worker.summed = model_.layout.parameter_floats;  // valid when the last range has been announced
  worker.partials.try_emplace(worker.last_node,
                              worker.pending.empty() ? sums : worker.pending.front());
  announce(worker, input, range);
}

// Subtracts `range` from what is still missing of each bucket.
void ShardSums::announce(Worker& worker, const StepInput& input, Range range) {
  const auto& ranges = input.buckets->ranges;
  const auto first = std::partition_point(
      ranges.begin(), ranges.end(), [&](const Range& one) { return one.begin >= range.end; });
  for (auto one = first; one != ranges.end() && one->end > range.begin; ++one) {
    const auto at = static_cast<std::size_t>(one - ranges.begin());
    worker.missing[at] -= one->common(range).size();
    if (worker.missing[at] > 0) continue;
    unfinished_[at].fetch_sub(1, std::memory_order_release);
    unfinished_[at].notify_all();
  }
  if (&worker == workers_.data()) hand_over(input);
}

// Does piece by piece what is otherwise done with a shard's complete gradients.
void ShardSums::look_at(Worker& worker, const StepInput& input, float* sums, Range range) {
  if (input.miscomputed && range.has(*input.miscomputed)) flip_bit(sums[*input.miscomputed]);
  if (input.with_squares) worker.squares += sum_squares(sums + range.begin, range.size());
}

// Hands over the buckets that all threads have finished.
void ShardSums::hand_over(const StepInput& input) {
  const GradientBuckets& buckets = *input.buckets;
  if (handed_over_ > 0) buckets.progress();
  while (handed_over_ < buckets.ranges.size()) {
    std::atomic<int>& unfinished = unfinished_[handed_over_];
    if (buckets.reuses_memory && workers_.front().missing[handed_over_] > 0) return;
    for (int left;
         buckets.reuses_memory && (left = unfinished.load(std::memory_order_acquire)) != 0;)
      unfinished.wait(left, std::memory_order_acquire);
    if (unfinished.load(std::memory_order_acquire) != 0) return;
    const Range range = buckets.ranges[handed_over_];
    Partials parts, merged;
    for (const Worker& worker : workers_)
      parts.insert(worker.partials.begin(), worker.partials.end());
    for (const Span node : nodes_) merged[node] = combine(node, parts, range.begin, range.end);
    hand_over_next(buckets, merged);
  }
}

void ShardSums::hand_over_rest(const StepInput& input, const Partials& all) {
  while (input.buckets != nullptr && handed_over_ < input.buckets->ranges.size())
    hand_over_next(*input.buckets, all);
}

void ShardSums::hand_over_next(const GradientBuckets& buckets, const Partials& parts) {
  buckets.ready(parts);
  const Range free = free_after(buckets, ++handed_over_);
  for (Worker& worker : workers_)
    for (Buffer& buffer : worker.buffers) buffer.drop(free);
}

}  // namespace dts::train
