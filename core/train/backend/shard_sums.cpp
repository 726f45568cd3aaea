// SPDX-License-Identifier: Apache-2.0
// Adds up shards depth-first, one subtree per thread.
#include "core/train/backend/shard_sums.hpp"

#include "core/train/device/kernels.hpp"

#include <algorithm>

namespace dts::train {

Result<std::unique_ptr<ShardSums>> ShardSums::create(const Model& model,
                                                     int shards,
                                                     int micro_batch,
                                                     int threads,
                                                     Precision precision,
                                                     ActivationStorage storage) {
  std::unique_ptr<ShardSums> made(new ShardSums(model, shards, threads));
  made->workers_.resize(static_cast<std::size_t>(threads));
  std::vector<Error> errors(made->workers_.size(), Error{Errc::internal, "", ""});
  made->team_.run([&](int index) {
    const auto i = static_cast<std::size_t>(index);
    auto network = Network::create(model, micro_batch, precision, storage);
    if (network)
      made->workers_[i].network = std::move(*network);
    else
      errors[i] = network.error();
  });
  for (const Error& error : errors)
    if (!error.message.empty()) return tl::unexpected(error);
  return made;
}

float* ShardSums::Worker::take(std::size_t floats) {
  if (unused.empty())
    return buffers.emplace_back(is_sparse ? Buffer::sparse(floats) : Buffer::shared(floats)).data();
  float* const taken = unused.back();
  unused.pop_back();
  return taken;
}

void ShardSums::shard_sum(Worker& worker, const StepInput& input, int shard, float* sums) {
  Stopwatch watch(worker.track);
  worker.indices.resize(static_cast<std::size_t>(worker.network->micro_batch()));
  choose_samples(input, shard, worker.indices);
  worker.placements = placements_of(input, shard, worker.indices);
  std::function<void(Range)> ready;
  worker.squares = 0;
  if (shard == worker.last_shard) ready = [&](Range range) { carry(worker, input, sums, range); };
  worker.network->train(input.samples,
                        worker.indices,
                        {input.weights,
                         objective_of(input, model_.reads),
                         shard == input.nan_shard,
                         ready,
                         enter_of(input.window, worker),
                         &watch,
                         worker.placements},
                        sums);
  const bool is_gone = worker.is_sparse && shard == worker.last_shard;
  if (input.with_squares)
    sums[model_.layout.scalar(Scalar::squares)] = static_cast<float>(
        is_gone ? worker.squares : sum_squares(sums, model_.layout.parameter_floats));
  if (input.miscomputed && !is_gone) flip_bit(sums[*input.miscomputed]);
  if (shard == input.audited) worker.audited = checksum(sums, model_.layout.sum_floats());
}

std::uint64_t ShardSums::audited() const {
  for (const Worker& worker : workers_)
    if (worker.audited != 0) return worker.audited;
  return 0;
}

std::uint64_t ShardSums::recompute(const StepInput& input) {
  // Runs on another thread than the first computation, if there are several.
  int by = input.audited;
  for (int index = 0; index < team_.size(); ++index)
    if (workers_[static_cast<std::size_t>(index)].audited != 0) by = index + 1;
  Worker& worker = workers_[static_cast<std::size_t>(by % team_.size())];
  team_.run([&](int index) {
    if (index != by % team_.size()) return;
    worker.last_shard = -1;  // this computation hands over nothing
    worker.network->prepare(input.weights);
    float* const sums = worker.take(model_.layout.sum_floats());
    shard_sum(worker, input, input.audited, sums);
    worker.unused.push_back(sums);
  });
  return worker.audited;
}

float* ShardSums::node_sum(Worker& worker, const StepInput& input, Span node) {
  if (node.size() == 1) {
    float* const sums = worker.take(model_.layout.sum_floats());
    shard_sum(worker, input, node.lo, sums);
    return sums;
  }
  float* const left = node_sum(worker, input, left_child(node));
  worker.pending.push_back(left);
  float* const right = node_sum(worker, input, right_child(node));
  worker.pending.pop_back();
  Stopwatch watch(worker.track);
  const std::size_t from = worker.summed;
  add(left + from, left + from, right + from, model_.layout.sum_floats() - from);
  watch.lap(Phase::reduce);
  worker.unused.push_back(right);
  return left;
}

Partials ShardSums::sum(const StepInput& input, Span run) {
  nodes_ = maximal_nodes(shards_, run);
  prepare_buckets(input, run);
  if (input.window != nullptr)
    begin_walk(*input.window, workers_.front().network->reads(true), std::max(run.size(), 1));
  team_.run([&](int index) {
    Worker& worker = workers_[static_cast<std::size_t>(index)];
    worker.audited = 0;
    worker.track = track_of(input, index);
    const std::vector<Span> nodes = maximal_nodes(shards_, part_for(run, index));
    Stopwatch watch(worker.track);
    if (!nodes.empty() && input.window == nullptr) worker.network->prepare(input.weights);
    watch.lap(Phase::forward);
    if (run.size() == 0 && index == 0 && input.window != nullptr) take_part_without_shard(input);
    for (const Span node : nodes) {
      float* const sums = node_sum(worker, input, node);
      worker.partials.try_emplace(node, sums);  // if present, other threads may read it already
    }
    if (input.window != nullptr && index < std::max(run.size(), 1)) input.window->leave(index);
  });
  if (input.window != nullptr) input.window->end();
  Partials parts;
  for (const Worker& worker : workers_)
    parts.insert(worker.partials.begin(), worker.partials.end());
  if (parts.size() != nodes_.size()) merge(input, parts);
  Partials merged;
  for (const Span node : nodes_) merged[node] = combine(node, parts, 0, 0);
  hand_over_rest(input, merged);
  return merged;
}

// Adds up the sums of the threads, except for the buckets that are handed over.
void ShardSums::merge(const StepInput& input, const Partials& parts) {
  const std::size_t left = handed_over_ == 0 ? model_.layout.parameter_floats
                                             : input.buckets->ranges[handed_over_ - 1].begin;
  team_.run([&](int index) {
    Stopwatch watch(track_of(input, index));
    const Range lines = Range{0, left / k_lanes}.part(team_.size(), index);
    for (const Span node : nodes_) {
      (void)combine(node, parts, lines.begin * k_lanes, lines.end * k_lanes);
      if (index == 0)
        (void)combine(node, parts, model_.layout.parameter_floats, model_.layout.sum_floats());
    }
    watch.lap(Phase::reduce);
  });
}

Score ShardSums::evaluate(
    const Samples& samples, const float* weights, const float* running, int parts, int part) {
  const auto micro = static_cast<std::size_t>(workers_.front().network->micro_batch());
  const Range chunks = Range{0, (samples.count + micro - 1) / micro}.part(parts, part);
  team_.run([&](int index) {
    Worker& worker = workers_[static_cast<std::size_t>(index)];
    worker.network->prepare(weights);
    worker.score = {};
    const Range mine = chunks.part(team_.size(), index);
    for (std::size_t first = mine.begin * micro; first < mine.end * micro; first += micro)
      worker.score += worker.network->evaluate(
          samples, first, std::min(micro, samples.count - first), weights, running);
  });
  Score score;
  for (const Worker& worker : workers_) score += worker.score;
  return score;
}

std::function<void()> ShardSums::enter_of(Window* window, const Worker& worker) const {
  if (window == nullptr) return nullptr;
  const auto thread = static_cast<int>(&worker - workers_.data());
  return [window, thread, place = 0]() mutable { window->enter(thread, place++); };
}

// For a rank without a shard in this round: it still sends weights and hands over its buckets.
void ShardSums::take_part_without_shard(const StepInput& input) {
  Worker& worker = workers_.front();
  Network::Training training;
  training.enter = enter_of(input.window, worker);
  training.ready = [&](Range range) { announce(worker, input, range); };
  worker.network->call_hooks(training);
}

Score ShardSums::evaluate_within(Window& window,
                                 const Samples& samples,
                                 const float* weights,
                                 const float* running,
                                 int parts,
                                 int part) {
  const auto micro = static_cast<std::size_t>(workers_.front().network->micro_batch());
  const std::size_t chunks = (samples.count + micro - 1) / micro;
  const auto threads = static_cast<std::size_t>(window.threads());
  Score score;
  for (std::size_t round = 0; round < chunks; round += threads * static_cast<std::size_t>(parts)) {
    begin_walk(window, workers_.front().network->reads(false), window.threads());
    team_.run([&](int index) {
      if (index >= window.threads()) return;
      Worker& worker = workers_[static_cast<std::size_t>(index)];
      const std::function<void()> enter = enter_of(&window, worker);
      const std::size_t first =
          (round + static_cast<std::size_t>(part) * threads + static_cast<std::size_t>(index)) *
          micro;
      worker.score = {};
      if (first < samples.count)
        worker.score = worker.network->evaluate(
            samples, first, std::min(micro, samples.count - first), weights, running, enter);
      else
        for (std::size_t i = 0; i < worker.network->reads(false).size(); ++i) enter();
      window.leave(index);
    });
    window.end();
    for (std::size_t i = 0; i < threads; ++i) score += workers_[i].score;
  }
  return score;
}

}  // namespace dts::train
