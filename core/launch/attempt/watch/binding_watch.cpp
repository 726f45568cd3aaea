// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/watch/binding_watch.hpp"

#include "core/base/text/units.hpp"
#include "core/launch/attempt/state/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {
namespace {

using std::chrono::seconds;

constexpr seconds k_patience{5};          // for the other ranks, after the first has reported
constexpr seconds k_last_save{60};        // for programs that are stopped because of their binding
constexpr std::size_t k_most_events = 8;  // limits the size of the ledger

std::string mismatch_words(const BindingGroup& group, const BindingFinding& finding) {
  return fmt::format("{}: {}", who(group), in_words(finding));
}

}  // namespace

void BindingWatch::on_bound(unsigned rank, const Bound& message, bool all_run, Time now) {
  auto state = parse_bound_state(message.text);
  if (!state)
    return news_.notes.push_back(fmt::format("{}: {}", ranks_.where(rank), state.error().message));
  bound_.insert_or_assign(rank, *std::move(state));
  not_read_.erase(rank);
  if (!report_by_) report_by_ = now + k_patience;
  if (!all_run && settings_.spec.strict_binding) end_if_misbound(rank, now);
}

void BindingWatch::end_if_misbound(unsigned rank, Time now) {
  for (const BindingFinding& finding :
       judge_binding(places_.planned_binding(rank), bound_.at(rank)))
    if (finding.mismatch)
      return ending_.end({run::Cause::wrong_binding,
                          k_wrong,
                          fmt::format("{} {}", ranks_.where(rank), in_words(finding)),
                          rank},
                         now);
}

void BindingWatch::on_tick(Time now) {
  if (!report_by_ || (!not_read_.empty() && now < *report_by_)) return;
  report_by_.reset();
  BindingReport report = make_report(now);
  tell(report, now);
  report_ = std::move(report);
}

BindingReport BindingWatch::make_report(Time now) {
  std::vector<RankBound> all;
  bool settled = true;
  for (const auto& [rank, state] : ranks_) {
    if (!state.exit_code) not_read_.insert(rank);
    const auto bound = bound_.find(rank);
    if (bound == bound_.end()) continue;
    settled = settled && bound->second.settled;
    all.push_back({rank, state.node(), places_.planned_binding(rank), bound->second});
  }
  return {settings_.number,
          ++reports_,
          format_utc(clock_.wall_at(now)),
          settled,
          group_by_binding(all)};
}

void BindingWatch::tell(const BindingReport& report, Time now) {
  note_lines(report);
  const std::string first = record_mismatches(report);
  if (first.empty() || !settings_.spec.strict_binding) return;
  const Time::duration saves = std::chrono::duration_cast<Time::duration>(2 * pace_.save_time());
  ending_.stop(
      run::Cause::wrong_binding, now + std::max<Time::duration>(k_last_save, saves), first, now);
}

void BindingWatch::note_lines(const BindingReport& report) {
  std::vector<std::string> lines = in_lines(report);
  if (lines != lines_)
    for (const std::string& line : lines) news_.notes.push_back("binding: " + line);
  lines_ = std::move(lines);
}

std::string BindingWatch::record_mismatches(const BindingReport& report) {
  std::string first;
  for (const BindingGroup& group : report.groups)
    for (const BindingFinding& finding : group.findings) {
      if (!finding.mismatch) continue;
      if (first.empty()) first = mismatch_words(group, finding);
      record_once(group, finding);
    }
  return first;
}

// Findings are identified by their text without the numbers of threads, which vary.
void BindingWatch::record_once(const BindingGroup& group, const BindingFinding& finding) {
  if (recorded_.size() >= k_most_events || !recorded_.insert(who(group) + finding.text).second)
    return;
  news_.events.push_back({.what = run::Binding{mismatch_words(group, finding)}});
}

}  // namespace dts::launch
