// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/watch/checkpoint_advice.hpp"

#include "core/reliability/interval.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {
namespace {

bool differs(Seconds a, Seconds b, double factor) {
  return a > b * factor || b > a * factor;
}

}  // namespace

CheckpointAdvice::CheckpointAdvice(unsigned nodes, const run::FailureRecord& record)
    : nodes_(std::max(1U, nodes)), record_(record) {}

std::optional<Advice> CheckpointAdvice::update(Seconds save, Seconds running) {
  Advice advice;
  if (save.count() <= 0) return std::nullopt;
  advice.save = save;
  advice.failures = record_.failures;
  advice.running = record_.running + running;
  advice.failure = reliability::learnt_time_to_failure(
      reliability::expected_time_to_failure(nodes_), advice.failures, advice.running);
  advice.every = reliability::checkpoint_interval(advice.save, advice.failure);
  if (!differs(advice.every, every_, k_change)) return std::nullopt;
  every_ = advice.every;
  advice.notable = notable_ < k_most_notable && differs(advice.every, noted_, k_notable_change);
  if (advice.notable) {
    noted_ = advice.every;
    ++notable_;
  }
  return advice;
}

std::string in_words(const Advice& advice) {
  return fmt::format(
      "save every {}: a save takes {}, and a failure is expected every {} ({} in {} so far)",
      format_duration(advice.every),
      format_duration(advice.save),
      format_duration(advice.failure),
      advice.failures,
      format_duration(advice.running));
}

}  // namespace dts::launch
