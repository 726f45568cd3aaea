// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/device_sums.hpp"

#include "core/train/device/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <optional>
#include <utility>

namespace dts::train::accelerator {
namespace {

// For a rank that computes nothing: it still sends its weights.
void pass_by(Window& window, std::size_t places) {
  for (int place = 0; place < static_cast<int>(places); ++place) window.enter(0, place);
}

}  // namespace

Result<std::unique_ptr<DeviceSums>> DeviceSums::create(const Model& model,
                                                       std::unique_ptr<Queue> queue,
                                                       DeviceSettings settings) {
  const int micro_batch = settings.micro_batch;
  try {
    return std::unique_ptr<DeviceSums>(
        new DeviceSums(model, std::move(queue), std::move(settings)));
  } catch (const std::exception& e) {
    return fail(Errc::invalid,
                fmt::format("cannot build {} for {} samples per shard on the device: {}",
                            model.name,
                            micro_batch,
                            e.what()),
                "choose a smaller --batch or more --shards, or --device cpu");
  }
}

DeviceSums::DeviceSums(const Model& model, std::unique_ptr<Queue> queue, DeviceSettings settings)
    : model_(model),
      settings_(std::move(settings)),
      team_(settings_.threads),
      queue_(std::move(queue)),
      network_(model,
               settings_.micro_batch,
               settings_.precision,
               *queue_,
               settings_.storage,
               settings_.notify),
      resident_{queue_->allocate(model.layout.parameter_floats), {}, nullptr},
      update_(*queue_, resident_, model.layout.parameter_floats, settings_.failed),
      laps_(*queue_, 4 * static_cast<std::size_t>(std::max(settings_.own_shards, 1))),
      uploads_(*queue_, network_.products(), resident_, model.layout.parameter_floats),
      computed_{queue_->new_event(), queue_->new_event()},
      indices_(static_cast<std::size_t>(settings_.micro_batch)),
      running_(queue_->allocate(model.layout.statistic_floats)) {
  // Arrays for left siblings that wait, one more, and, if a rank's run may be more than one node,
  // one that is being copied to the host. Allocates them now so that a lack of memory is found
  // here.
  const int own = std::max(settings_.own_shards, 1);
  const bool is_node =
      settings_.shards % own == 0 && std::has_single_bit(static_cast<unsigned>(own));
  for (int level = std::bit_width(static_cast<unsigned>(own - 1)) + (is_node ? 0 : 1); level >= 0;
       --level)
    return_array(queue_->allocate(model.layout.sum_floats()));
  uploads_.end_pass();  // so that copies can always follow it
  if (settings_.moments > 0) update_.reserve(settings_.own_floats, settings_.moments);
}

float* DeviceSums::take_array() {
  if (unused_.empty()) return queue_->allocate(model_.layout.sum_floats());
  float* const taken = unused_.back();
  unused_.pop_back();
  return taken;
}

void DeviceSums::link(Group& all, const LinkId& id, DeviceExchange::Settings settings) {
  settings.failed = settings_.failed;
  guarded(settings_.failed, [&] {
    exchange_.emplace(all, *queue_, model_.layout, device_gradients_, id, std::move(settings));
  });
  resident_.is_exchanged = true;
}

// Keeps them until the next sum().
void DeviceSums::keep_on_device(Partials sums) {
  for (const auto& [node, array] : device_gradients_) return_array(array);
  device_gradients_ = std::move(sums);
  resident_.gradients = device_gradients_.empty() ? nullptr : device_gradients_.begin()->second;
}

std::uint64_t DeviceSums::checksum_of(const float* sums) {
  const std::size_t count = model_.layout.sum_floats();
  if (audited_sums_.size() == 0) audited_sums_ = Buffer(count);
  queue_->to_host(audited_sums_.data(), sums, count);
  return checksum(audited_sums_.data(), count);
}

float* DeviceSums::shard_sum(const StepInput& input, int shard) {
  float* const sums = take_array();
  choose_samples(input, shard, indices_);
  const std::vector<Placement> placements = placements_of(input, shard, indices_);
  network_.train(input.samples,
                 indices_,
                 resident_.weights,
                 {objective_of(input, model_.reads),
                  shard == input.nan_shard,
                  input.with_squares,
                  uploads_.enter_of(input.window, input.weights),
                  input.timeline == nullptr ? nullptr : &laps_,
                  placements},
                 sums);
  uploads_.end_pass();
  if (input.miscomputed) {
    float changed = 0;
    queue_->to_host(&changed, sums + *input.miscomputed, 1);
    flip_bit(changed);
    queue_->to_device(sums + *input.miscomputed, &changed, 1);
  }
  if (shard == input.audited) audited_ = checksum_of(sums);
  return sums;
}

float* DeviceSums::node_sum(const StepInput& input, Span node) {
  if (node.size() == 1) return shard_sum(input, node.lo);
  float* const left = node_sum(input, left_child(node));
  float* const right = node_sum(input, right_child(node));
  queue_->launch(Add<float>{{model_.layout.sum_floats()}, left, right});
  return_array(right);
  return left;
}

float* DeviceSums::host_array(std::size_t number, bool is_sparse) {
  const std::size_t count = model_.layout.sum_floats();
  if (number == host_arrays_.size())
    host_arrays_.push_back(is_sparse ? Buffer::sparse(count) : Buffer::shared(count));
  return host_arrays_[number].data();
}

// Copies each node to the host while the next one is computed.
DeviceSums::Sums DeviceSums::sums_of_nodes(const StepInput& input, Span run, bool reuses_memory) {
  Sums all;
  const auto copy_and_release = [&](const Waiting& one) {
    const Range range = copied_range(reuses_memory || input.gradients_stay);
    float* const sums = all.on_device[one.node];
    queue_->to_host_after(
        one.computed, all.on_host[one.node] + range.begin, sums + range.begin, range.size());
    if (!input.gradients_stay && !reuses_memory) return_array(sums);
  };
  std::optional<Waiting> waiting;
  for (const Span node : maximal_nodes(settings_.shards, run)) {
    all.on_device[node] = node_sum(input, node);
    all.on_host[node] = host_array(all.on_host.size(), reuses_memory);
    Waiting computed{node, computed_[all.on_host.size() % 2]};
    queue_->record(computed.computed);
    if (waiting) copy_and_release(*waiting);
    waiting = computed;
  }
  if (waiting) copy_and_release(*waiting);
  return all;
}

Partials DeviceSums::sum(const StepInput& input, Span run) {
  return guarded(settings_.failed, [&] {
    audited_ = 0;
    keep_on_device({});
    uploads_.begin(input.window != nullptr);
    if (input.window != nullptr) begin_walk(*input.window, network_.plan().reads(true), 1);
    const bool reuses_memory = input.buckets != nullptr && input.buckets->reuses_memory;
    const auto [on_device, on_host] = sums_of_nodes(input, run, reuses_memory);
    if (input.gradients_stay) keep_on_device(on_device);
    if (input.window != nullptr) {
      if (run.size() == 0) pass_by(*input.window, network_.plan().reads(true).size());
      input.window->leave(0);
      input.window->end();
    }
    if (input.buckets != nullptr) hand_over(*input.buckets, on_device, on_host);
    if (reuses_memory && !input.gradients_stay)
      for (const auto& [node, sums] : on_device) return_array(sums);
    if (input.timeline != nullptr) laps_.report(input.timeline->track(0));
    return on_host;
  });
}

// If no rank has all gradients, they are copied as they are handed over; if they stay, not at all.
Range DeviceSums::copied_range(bool only_tail) const {
  return {only_tail ? model_.layout.parameter_floats : 0, model_.layout.sum_floats()};
}

void DeviceSums::copy_sums(Span node,
                           const Partials& on_device,
                           const Partials& on_host,
                           Range range) {
  queue_->to_host(on_host.at(node) + range.begin, on_device.at(node) + range.begin, range.size());
}

void DeviceSums::hand_over(const GradientBuckets& buckets,
                           const Partials& on_device,
                           const Partials& on_host) {
  std::size_t handed_over = 0;
  for (const Range run : buckets.ranges) {
    if (buckets.reuses_memory && !resident_.is_exchanged)
      for (const auto& [node, sums] : on_host) copy_sums(node, on_device, on_host, run);
    buckets.ready(on_host);
    const Range free = free_after(buckets, ++handed_over);
    for (Buffer& array : host_arrays_) array.drop(free);
  }
}

std::uint64_t DeviceSums::recompute(const StepInput& input) {
  return guarded(settings_.failed, [&] {
    uploads_.begin(input.window != nullptr);
    return_array(shard_sum(input, input.audited));
    if (input.timeline != nullptr) laps_.report(input.timeline->track(0));
    return audited_;
  });
}

Score DeviceSums::evaluate_chunk(const Samples& samples,
                                 std::size_t chunk,
                                 const WeightUploads::Enter& enter) {
  const std::size_t first = chunk * indices_.size();
  const Score score = network_.evaluate(samples,
                                        first,
                                        std::min(indices_.size(), samples.count - first),
                                        resident_.weights,
                                        running_,
                                        enter);
  uploads_.end_pass();
  return score;
}

std::size_t DeviceSums::chunks_of(const Samples& samples) const {
  return (samples.count + indices_.size() - 1) / indices_.size();
}

Score DeviceSums::evaluate(
    const Samples& samples, const float* weights, const float* running, int parts, int part) {
  return guarded(settings_.failed, [&] {
    uploads_.begin(false);
    queue_->to_device(running_, running, model_.layout.statistic_floats);
    const Range mine = Range{0, chunks_of(samples)}.part(parts, part);
    Score score;
    for (std::size_t chunk = mine.begin; chunk < mine.end; ++chunk)
      score += evaluate_chunk(samples, chunk, uploads_.enter_of(nullptr, weights));
    return score;
  });
}

Score DeviceSums::evaluate_within(Window& window,
                                  const Samples& samples,
                                  const float* weights,
                                  const float* running,
                                  int parts,
                                  int part) {
  return guarded(settings_.failed, [&] {
    queue_->to_device(running_, running, model_.layout.statistic_floats);
    const std::vector<Range> reads = network_.plan().reads(false);
    uploads_.begin(true);
    Score score;
    for (std::size_t round = 0; round < chunks_of(samples);
         round += static_cast<std::size_t>(parts)) {
      begin_walk(window, reads, 1);
      const std::size_t chunk = round + static_cast<std::size_t>(part);
      if (chunk < chunks_of(samples))
        score += evaluate_chunk(samples, chunk, uploads_.enter_of(&window, weights));
      else
        pass_by(window, reads.size());
      window.leave(0);
      window.end();
    }
    return score;
  });
}

}  // namespace dts::train::accelerator
