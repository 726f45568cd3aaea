// SPDX-License-Identifier: Apache-2.0
// Finds nodes and links that are at fault, by comparison with their peers and with an earlier check
// of the cluster. Pure, thread-safe.
//
// The rule. Values are compared as logarithms of ratios, because the noise of rates and times is
// multiplicative. A value is at fault if it is worse than the median of its peers by its
// measure's tolerance and by Limits::deviations times their noise (noise_limit()), or by a
// factor of 20, which no noise explains. The noise is estimated from all measures of a family
// together, because a busy machine disturbs all of them, and one measure on few nodes can look
// quieter than it is. A noisier measure with many nodes uses its own noise. Peers are the other
// nodes with the same CPU model. With one or two peers the tolerance is doubled, and without
// peers only the baseline counts. (This is a modified z-score, Iglewicz and Hoaglin 1993, with a
// floor.)
//
// Rates come from moments in which no other program used the processors, and are judged whatever
// the load. A node on which other programs took more processor time than on its peers, beyond a
// tolerance, is at fault for this reason: an earlier job may have left a process there.
#pragma once

#include "core/check/facts.hpp"
#include "core/check/limits.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::check {

struct Judged {
  std::string measure;  // identity()
  double value = 0;
  std::optional<double> peers{};     // their median
  std::optional<double> baseline{};  // this node's, otherwise the median of its kind
  bool fit = true;
};

struct NodeVerdict {
  std::string name;
  bool fit = true;
  // The share of its processors' time that other programs used, in the measure with the least.
  std::optional<double> others{};
  bool steps_fit = true;             // the training step gave the right bits
  std::vector<Judged> measures;      // in the order of the facts
  std::vector<std::string> reasons;  // sentences without the node's name; empty if fit
};

// One of facts.pairs, in their order.
struct LinkVerdict {
  bool latency_fit = true;
  bool bandwidth_fit = true;
  std::string reason;  // empty: it is fit, or one of its nodes is blamed instead

  [[nodiscard]] bool fit() const { return latency_fit && bandwidth_fit; }
};

struct Verdict {
  bool fit = true;
  std::vector<NodeVerdict> nodes;  // in the order of the facts
  std::vector<LinkVerdict> links;
  std::vector<std::string> cluster;  // faults for which no node can be blamed
  std::vector<std::string> notes;    // worth knowing, but not faults
};

// `baseline` may be null.
[[nodiscard]] Verdict judge(const Facts& facts, const Limits& limits, const Facts* baseline);

// True if there are no faults: of nodes, of links, or without a name.
[[nodiscard]] bool is_fit(const Verdict& verdict);

// All faults: one sentence each, which begins with the node or link.
[[nodiscard]] std::vector<std::string> faults(const Facts& facts, const Verdict& verdict);

}  // namespace dts::check
