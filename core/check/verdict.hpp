// SPDX-License-Identifier: Apache-2.0
// Which nodes and links are at fault, by comparison with their peers and with an earlier check of
// the cluster. Pure, thread-safe.
//
// The rule. Values are compared as logarithms of ratios, because noise of rates and times is
// multiplicative. A value is at fault if it is worse than the median of its peers by its measure's
// tolerance and by Limits::deviations times their noise (noise_limit()), or by a factor of 20,
// which no noise explains. The noise is estimated
// from all measures of a family together, since a busy machine disturbs all of them and one measure
// of few nodes can look quieter than it is; a noisier measure of many nodes counts for itself.
// Peers are the other nodes with the same CPU model. With one or two peers the tolerance is
// doubled, and without a peer only the baseline counts. (A modified z-score, Iglewicz and Hoaglin
// 1993, with a floor.)
//
// Rates come from moments in which nobody else had the processors, and are judged whatever the
// load. A node on which other programs took more of the processors' time than on its peers, by
// their tolerance, is at fault for that: a process that an earlier job has left, say.
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
  std::optional<double> baseline{};  // this node's then; the median of then if it was not there
  bool fit = true;
};

struct NodeVerdict {
  std::string name;
  bool fit = true;
  // The share of its processors' time that other programs had, in the quietest of its measures.
  std::optional<double> others{};
  bool steps_fit = true;             // the training step gave the bits that it should
  std::vector<Judged> measures;      // in the order of the facts
  std::vector<std::string> reasons;  // sentences without the node's name; empty if fit
};

// Of facts.pairs, in their order.
struct LinkVerdict {
  bool latency_fit = true;
  bool bandwidth_fit = true;
  std::string reason;  // empty if it is fit, or if one of its nodes is to blame for it

  [[nodiscard]] bool fit() const { return latency_fit && bandwidth_fit; }
};

struct Verdict {
  bool fit = true;
  std::vector<NodeVerdict> nodes;  // in the order of the facts
  std::vector<LinkVerdict> links;
  std::vector<std::string> cluster;  // faults for which no node can be blamed
  std::vector<std::string> notes;    // worth knowing; they do not count
};

// `baseline` may be null.
[[nodiscard]] Verdict judge(const Facts& facts, const Limits& limits, const Facts* baseline);

// Whether it has no faults: of nodes, of links, or without a name.
[[nodiscard]] bool is_fit(const Verdict& verdict);

// All faults, a sentence each that names its node or link first.
[[nodiscard]] std::vector<std::string> faults(const Facts& facts, const Verdict& verdict);

}  // namespace dts::check
