// SPDX-License-Identifier: Apache-2.0
// The parts of judge(), one per kind of fact. Each marks faults in `verdict`, which already has an
// entry for each node and link. Pure.
#pragma once

#include "core/check/verdict.hpp"

#include <cmath>

namespace dts::check {

void judge_values(const Facts& facts,
                  const Limits& limits,
                  const Facts* baseline,
                  Verdict& verdict);
// Call it after judge_values(). Judges the number of GPUs, and compares each GPU's rates with those
// of all other GPUs of its model, on any node.
void judge_gpus(const Facts& facts, const Limits& limits, Verdict& verdict);
void judge_gpu_digests(const Facts& facts, Verdict& verdict);
void judge_neighbours(const Facts& facts, const Limits& limits, Verdict& verdict);
void judge_clocks(const Facts& facts, const Limits& limits, Verdict& verdict);
void judge_links(const Facts& facts, const Limits& limits, const Facts* baseline, Verdict& verdict);
void judge_digests(const Facts& facts, const Facts* baseline, Verdict& verdict);

inline void blame(NodeVerdict& node, std::string reason) {
  node.fit = false;
  node.reasons.push_back(std::move(reason));
}

// Marks bits as wrong, which no later measurement makes up for.
inline void blame_for_bits(NodeVerdict& node, std::string reason) {
  node.steps_fit = false;
  blame(node, std::move(reason));
}

// By how much, as a logarithm, `value` is worse than `reference`; infinite for a rate of 0.
[[nodiscard]] inline double worse_by(Better better, double value, double reference) {
  const double ratio = std::log(value) - std::log(reference);
  return better == Better::higher ? -ratio : ratio;
}

// The logarithm that corresponds to a tolerance; see Measure::tolerance.
[[nodiscard]] inline double allowed(Better better, double tolerance) {
  constexpr double k_largest_loss = 0.95;
  return better == Better::higher ? -std::log1p(-std::min(tolerance, k_largest_loss))
                                  : std::log1p(tolerance);
}

// The largest difference that noise can explain. In 50 checks of a healthy cluster on two cores
// that also ran ten to thirty other programs, the worst disk was 21 times and the worst latency 24
// times worse than its peers', once each. What looks unfit is measured again.
inline const double k_no_noise = std::log(20.0);

// "48 % of" for rates; times are worse if they are longer: "3.2 times".
[[nodiscard]] std::string ratio_in_words(Better better, double value, double reference);

// The first digits, which suffice to distinguish digests.
[[nodiscard]] inline std::string short_form(const std::string& digest) {
  constexpr std::size_t k_shown = 12;
  return digest.substr(0, k_shown);
}

// "n1, n2, n3": names at most four of them.
[[nodiscard]] std::string in_words(const std::vector<std::string>& names);

}  // namespace dts::check
