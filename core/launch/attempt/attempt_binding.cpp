// SPDX-License-Identifier: Apache-2.0
// What an attempt makes of its ranks' bindings: one report for all, a word where one is not as
// planned, and the end where that was asked for.
#include "core/base/text/units.hpp"
#include "core/launch/attempt/attempt.hpp"
#include "core/launch/attempt/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {
namespace {

using std::chrono::seconds;

constexpr seconds k_patience{5};          // for the other ranks, once one has spoken
constexpr seconds k_last_save{60};        // for programs that are stopped for their binding
constexpr std::size_t k_most_events = 8;  // in the ledger: it must not grow with ranks

}  // namespace

PlannedBinding Attempt::planned_binding(unsigned rank) const {
  const plan::Placement& placement = placements_.at(rank);
  const auto on_node = node_cpus_.find(placement.node);
  return {placement.cpus,
          placement.memory,
          settings_.plan.gpus_per_node,
          on_node == node_cpus_.end() ? 0U : static_cast<unsigned>(on_node->second.size())};
}

void Attempt::on(unsigned rank, const Bound& message, Time now) {
  if (phase_ != Phase::starting && phase_ != Phase::running) return;
  auto state = parse_bound_state(message.text);
  if (!state) {
    notes_.push_back(fmt::format("{}: {}", where(rank), state.error().message));
    return;
  }
  ranks_.at(rank).bound = *std::move(state);
  not_read_.erase(rank);
  if (!report_binding_by_) report_binding_by_ = now + k_patience;
  if (phase_ != Phase::starting || !settings_.strict_binding) return;
  for (const BindingFinding& finding : judge_binding(planned_binding(rank), *ranks_.at(rank).bound))
    if (finding.mismatch)
      return end(run::Cause::wrong_binding,
                 k_wrong,
                 fmt::format("{} {}", where(rank), in_words(finding)),
                 now,
                 rank);
}

void Attempt::on_verify() {
  if (phase_ != Phase::running) return;
  for (const auto& [rank, state] : ranks_)
    if (!state.exit_code) send(rank, ReadBack{});
}

void Attempt::look_at_binding(Time now) {
  if (!report_binding_by_ || (!not_read_.empty() && now < *report_binding_by_)) return;
  report_binding_by_.reset();
  std::vector<RankBound> all;
  bool settled = true;
  for (const auto& [rank, state] : ranks_) {
    if (!state.exit_code) not_read_.insert(rank);
    if (!state.bound) continue;
    settled = settled && state.bound->settled;
    all.push_back({rank, state.hello.rank.node, planned_binding(rank), *state.bound});
  }
  BindingReport report{settings_.number,
                       ++binding_reports_,
                       format_utc(wall_at(now)),
                       settled,
                       group_by_binding(all)};
  tell_binding(report, now);
  binding_news_ = std::move(report);
}

void Attempt::tell_binding(const BindingReport& report, Time now) {
  std::vector<std::string> lines = in_lines(report);
  if (lines != binding_lines_)
    for (const std::string& line : lines) notes_.push_back("binding: " + line);
  binding_lines_ = std::move(lines);
  std::string first;
  for (const BindingGroup& group : report.groups)
    for (const BindingFinding& finding : group.findings) {
      if (!finding.mismatch) continue;
      std::string words = fmt::format("{}: {}", who(group), in_words(finding));
      if (first.empty()) first = words;
      // Known by its words without the numbers of threads, which change.
      if (binding_events_.size() >= k_most_events ||
          !binding_events_.insert(who(group) + finding.text).second)
        continue;
      events_.push_back({.what = run::Binding{std::move(words)}});
    }
  if (!first.empty() && settings_.strict_binding)
    on_stop(run::Cause::wrong_binding,
            now + std::max<Time::duration>(
                      k_last_save, std::chrono::duration_cast<Time::duration>(2 * save_time())),
            first,
            now);
}

std::optional<BindingReport> Attempt::take_binding() {
  return std::exchange(binding_news_, std::nullopt);
}

}  // namespace dts::launch
