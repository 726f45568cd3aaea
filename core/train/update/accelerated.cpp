// SPDX-License-Identifier: Apache-2.0
// ShardedUpdate: the same step on an accelerator. Its weights and moments are compared with the
// checksums made when they were written, as on the processor. Only what travels to other ranks
// comes to the host.
#include "core/base/random.hpp"
#include "core/train/memory/buffer.hpp"
#include "core/train/update/sharded_update.hpp"

#include <utility>

namespace dts::train {
namespace {

std::size_t number(int value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

void ShardedUpdate::begin_on_device(const State& state) {
  if (settings_.accelerated == nullptr) return;
  ChunkUpdate::Owned owned{settings_.optimizer, {}, own_floats_};
  for (const int chunk : own_) {
    const Range part = grid_.floats_of({chunk, chunk + 1});
    owned.chunks.push_back({part.begin,
                            places_[number(chunk)],
                            static_cast<std::uint32_t>(part.size()),
                            grid_.decays(chunk) ? 1U : 0U});
  }
  settings_.accelerated->begin(std::move(owned), state.weights.data(), momentum_.data());
  is_behind_ = false;
}

std::uint64_t ShardedUpdate::checksum_of_all(const std::uint64_t* moments) const {
  std::uint64_t all = moments[0];
  for (std::size_t moment = 1; moment < layout_.moments.size(); ++moment)
    all = mix(all) ^ moments[moment];
  return all;
}

// `reports_` describe the state before the step, or the current one.
void ShardedUpdate::compare_reports() {
  for (std::size_t i = 0; settings_.sealed && i < own_.size(); ++i) {
    const Record& expected = records_[number(own_[i])];
    std::uint8_t& wrong = wrong_[number(own_[i])];
    if (reports_[i].weights != expected.weights) wrong |= k_weights;
    if (checksum_of_all(reports_[i].moments) != expected.momentum) wrong |= k_momentum;
  }
}

void ShardedUpdate::check_on_device(const State& state) {
  settings_.accelerated->look(reports_);
  compare_reports();
  if (is_behind_) return;
  each(own_, [&](int chunk, int /*thread*/) { check_weights(state, chunk); });
}

ShardedUpdate::ByChunk ShardedUpdate::device_gradient_squares() {
  std::vector<double> mine(own_.size());
  settings_.accelerated->squares(sums_.gradients, mine);
  ByChunk all(number(grid_.count()));
  for (std::size_t i = 0; i < own_.size(); ++i) all[number(own_[i])] = mine[i];
  return all;
}

void ShardedUpdate::step_on_device(const UpdateStep& step, float scale) {
  each(own_, [&](int chunk, int /*thread*/) { check_gradient(chunk); });
  UpdateFactors factors = update_factors(settings_.optimization, step);
  factors.scale = scale;
  settings_.accelerated->step(factors, sums_.gradients, reports_);
  if (settings_.optimizer->by_tensor) {
    ByChunk weights(number(grid_.count()));
    ByChunk directions(weights.size());
    for (std::size_t i = 0; i < own_.size(); ++i) {
      weights[number(own_[i])] = reports_[i].weight_squares;
      directions[number(own_[i])] = reports_[i].next_squares;
    }
    settings_.accelerated->move(rates_by_tensor(step.lr, std::move(weights), std::move(directions)),
                                reports_);
  }
  compare_reports();
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const ChunkReport& report = reports_[i];
    Record made{report.gradient_squares, report.next_squares, 0, 0};
    if (settings_.sealed) {
      made.weights = report.next_weights;
      made.momentum = checksum_of_all(report.next_moments);
    }
    next_records_[number(own_[i])] = made;
  }
  if (!gradients_stay()) settings_.accelerated->next_weights(next_weights_.data());
}

void ShardedUpdate::copy_weights_to_host(State& state) {
  if (!std::exchange(is_behind_, false)) return;
  if (exchanges_on_device() && settings_.zero < 3)
    settings_.arrays->to_host(
        state.weights.data(), settings_.accelerated->all_weights(), layout_.parameter_floats);
  else
    settings_.accelerated->weights(state.weights.data());
}

// Checks the copies of what other ranks own.
void ShardedUpdate::check_copies(const State& state) {
  if (exchanges_on_device() && !others_.empty()) check_device_chunks({0, grid_.count()});
  if (exchanges_on_device() && is_behind_) return;
  each(others_, [&](int chunk, int /*thread*/) { check_weights(state, chunk); });
}

// Checks the accelerator's copies of these chunks, as far as other ranks own them.
void ShardedUpdate::check_device_chunks(Span chunks) {
  if (!settings_.sealed) return;
  std::vector<std::uint64_t> now(number(chunks.size()));
  settings_.arrays->checksums(
      settings_.accelerated->all_weights() + grid_.floats_of(chunks).begin, chunks, now.data());
  for (int chunk = chunks.lo; chunk < chunks.hi; ++chunk)
    if (ownership_.owner(chunk) != comm_.rank() &&
        now[number(chunk - chunks.lo)] != records_[number(chunk)].weights)
      wrong_[number(chunk)] |= k_weights;
}

// Sends new weights from the accelerator of their owner to those of all ranks.
void ShardedUpdate::gather_on_device() {
  if (!exchanges_on_device() || settings_.zero == 3) return;
  std::vector<Levels::Sliced> all;
  add_slices(settings_.accelerated->all_weights(), all);
  levels_.gather(all, settings_.arrays);
}

void ShardedUpdate::gather_on_device(int bucket) {
  levels_.gather({{settings_.accelerated->all_weights(), ownership_.slices(bucket)}},
                 settings_.arrays);
  check_device_chunks(ownership_.bucket(bucket));
  find_damage();
}

void ShardedUpdate::copy_moments_to_host() {
  if (settings_.accelerated != nullptr) settings_.accelerated->moments(momentum_.data());
}

void ShardedUpdate::flip_weight(State& state, std::size_t element) {
  flip_bit(state.weights.data()[element]);
  if (exchanges_on_device())
    return settings_.arrays->flip(settings_.accelerated->all_weights() + element);
  for (const int chunk : own_) {
    const Range part = grid_.floats_of({chunk, chunk + 1});
    if (settings_.accelerated != nullptr && part.has(element))
      settings_.accelerated->flip_weight(places_[number(chunk)] + (element - part.begin));
  }
}

}  // namespace dts::train
