// SPDX-License-Identifier: Apache-2.0
// ShardSums: hands over gradients while the last shard of each thread is in its backward pass. Once
// a range is final there, it is added to the sums that wait for it, along the usual tree; a run
// leaves when all threads have completed it. Only the thread that called sum() hands runs over, in
// its own backward pass or at the end, because only that thread may use MPI.
#include "core/train/backend/shard_sums.hpp"
#include "core/train/device/kernels.hpp"

#include <algorithm>

namespace dts::train {

void ShardSums::prepare_departure(const StepInput& input, Span run) {
  const std::size_t runs = input.departure == nullptr ? 0 : input.departure->runs.size();
  departed_ = 0;
  if (unfinished_.size() != runs) unfinished_ = std::vector<std::atomic<int>>(runs);
  int active = 0;
  const bool drops = runs > 0 && input.departure->drops;
  // The sums of a single shard are changed or examined when they are complete. They must not leave
  // before, since depart() adds those of other threads to them.
  const bool is_looked_at =
      !drops &&
      (input.miscomputed || (team_.size() > 1 && (input.audited >= 0 || input.with_squares)));
  for (int index = 0; index < team_.size(); ++index) {
    Worker& worker = workers_[static_cast<std::size_t>(index)];
    for (const auto& [node, sums] : worker.partials) worker.unused.push_back(sums);
    worker.partials.clear();
    worker.summed = 0;
    worker.last_shard = -1;
    worker.is_sparse = drops;
    const Span part = part_for(run, index);
    const bool passes_by = run.size() == 0 && index == 0 && input.window != nullptr;
    if (runs == 0 || (part.size() == 0 && !passes_by) || is_looked_at) continue;
    ++active;
    worker.last_shard = part.hi - 1;
    if (!passes_by) worker.last_node = maximal_nodes(shards_, part).back();
    worker.missing.clear();
    for (const Range one : input.departure->runs) worker.missing.push_back(one.size());
  }
  // If no thread can hand over early, all runs leave at the end.
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

// Subtracts `range` from what is still missing of each run that leaves.
void ShardSums::announce(Worker& worker, const StepInput& input, Range range) {
  const auto& runs = input.departure->runs;
  const auto first = std::partition_point(
      runs.begin(), runs.end(), [&](const Range& one) { return one.begin >= range.end; });
  for (auto one = first; one != runs.end() && one->end > range.begin; ++one) {
    const auto at = static_cast<std::size_t>(one - runs.begin());
    worker.missing[at] -= one->common(range).size();
    if (worker.missing[at] > 0) continue;
    unfinished_[at].fetch_sub(1, std::memory_order_release);
    unfinished_[at].notify_all();
  }
  if (&worker == workers_.data()) depart(input);
}

// Does piece by piece what is otherwise done with a shard's complete gradients.
void ShardSums::look_at(Worker& worker, const StepInput& input, float* sums, Range range) {
  if (input.miscomputed && range.has(*input.miscomputed)) flip_bit(sums[*input.miscomputed]);
  if (input.with_squares) worker.squares += sum_squares(sums + range.begin, range.size());
}

// Hands over the runs that all threads have finished.
void ShardSums::depart(const StepInput& input) {
  const Departure& departure = *input.departure;
  if (departed_ > 0) departure.progress();
  while (departed_ < departure.runs.size()) {
    std::atomic<int>& unfinished = unfinished_[departed_];
    if (departure.drops && workers_.front().missing[departed_] > 0) return;
    for (int left; departure.drops && (left = unfinished.load(std::memory_order_acquire)) != 0;)
      unfinished.wait(left, std::memory_order_acquire);
    if (unfinished.load(std::memory_order_acquire) != 0) return;
    const Range run = departure.runs[departed_];
    Partials parts, merged;
    for (const Worker& worker : workers_)
      parts.insert(worker.partials.begin(), worker.partials.end());
    for (const Span node : nodes_) merged[node] = combine(node, parts, run.begin, run.end);
    leave(departure, merged);
  }
}

void ShardSums::depart_rest(const StepInput& input, const Partials& all) {
  while (input.departure != nullptr && departed_ < input.departure->runs.size())
    leave(*input.departure, all);
}

void ShardSums::leave(const Departure& departure, const Partials& parts) {
  departure.leave(parts);
  const Range free = free_after(departure, ++departed_);
  for (Worker& worker : workers_)
    for (Buffer& buffer : worker.buffers) buffer.drop(free);
}

}  // namespace dts::train
