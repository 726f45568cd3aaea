// SPDX-License-Identifier: Apache-2.0
#include "core/train/timing/timeline.hpp"

namespace dts::train {
namespace {

std::size_t index(Phase phase) {
  return static_cast<std::size_t>(phase);
}

constexpr std::size_t k_of_shards = static_cast<std::size_t>(Phase::reduce);  // the phases before

PhaseSeconds seconds_of(const Track& track) {
  PhaseSeconds sums{};
  for (const Stretch& one : track.stretches()) {
    sums[index(one.phase)] += one.seconds();
    if (one.within != Phase::count) sums[index(one.within)] -= one.seconds();
  }
  return sums;
}

double of_shards(const PhaseSeconds& sums) {
  double sum = 0;
  for (std::size_t phase = 0; phase < k_of_shards; ++phase) sum += sums[phase];
  return sum;
}

}  // namespace

const char* to_string(Phase phase) {
  constexpr std::array<const char*, k_phases + 1> k_names{"data",
                                                          "forward",
                                                          "backward",
                                                          "reduce",
                                                          "communication",
                                                          "optimizer",
                                                          "save",
                                                          "evaluate",
                                                          ""};
  return k_names[index(phase)];
}

PhaseSeconds phase_seconds(const Timeline& timeline) {
  PhaseSeconds sums = seconds_of(timeline.tracks().front());
  PhaseSeconds longest = sums;
  for (const Track& track : timeline.tracks()) {
    const PhaseSeconds own = seconds_of(track);
    if (of_shards(own) > of_shards(longest)) longest = own;
  }
  for (std::size_t phase = 0; phase < k_of_shards; ++phase) sums[phase] = longest[phase];
  return sums;
}

}  // namespace dts::train
