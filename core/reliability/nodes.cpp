// SPDX-License-Identifier: Apache-2.0
#include "core/reliability/nodes.hpp"

#include <algorithm>

namespace dts::reliability {

Nodes::Nodes(const Model& model)
    : model_(model),
      repair_(std::chrono::duration_cast<Nanoseconds>(model.repair)),
      lemon_failures_(lemons(model)) {
  allocate(Nanoseconds(0));
}

// A quarantined lemon is replaced by an ordinary node, so the run keeps its size.
double Nodes::rate() const {
  const double extra =
      static_cast<double>(lemon_failures_.size()) * (model_.failures.lemon_factor - 1);
  return mean_rate(model_.failures.node_rate, model_.nodes + extra);
}

Nodes::Failure Nodes::draw(Random& random) {
  const double lemon_weight =
      static_cast<double>(lemon_failures_.size()) * model_.failures.lemon_factor;
  const double others = static_cast<double>(model_.nodes - lemon_failures_.size());
  const double point = random.uniform() * (lemon_weight + others);
  if (point >= lemon_weight) return {};
  const auto which = std::min(lemon_failures_.size() - 1,
                              static_cast<std::size_t>(point / model_.failures.lemon_factor));
  const unsigned limit = model_.policy.quarantine_after;
  if (++lemon_failures_[which] != limit) return {true, false};
  lemon_failures_[which] = lemon_failures_.back();
  lemon_failures_.pop_back();
  return {true, true};
}

bool Nodes::replace(unsigned count, Nanoseconds now) {
  if (model_.cluster_nodes > 0) {
    broken_ += count;
    repairs_.push_back({now + repair_, count});
  }
  if (count > spares_) return false;
  spares_ -= count;
  return true;
}

bool Nodes::allocate(Nanoseconds now) {
  for (; !repairs_.empty() && repairs_.front().done <= now; repairs_.pop_front())
    broken_ -= repairs_.front().nodes;
  spares_ = model_.policy.spares;
  if (model_.cluster_nodes == 0) return true;
  const unsigned working = model_.cluster_nodes - broken_;
  if (working < model_.nodes) return false;
  spares_ = std::min(spares_, working - model_.nodes);
  return true;
}

std::optional<Nanoseconds> Nodes::next_repair() const {
  if (repairs_.empty()) return std::nullopt;
  return repairs_.front().done;
}

}  // namespace dts::reliability
