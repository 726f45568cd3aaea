// SPDX-License-Identifier: Apache-2.0
// Watches how the ranks of an attempt are bound: makes one report for all, warns if a rank is not
// bound as planned, and ends the attempt if the user requested that. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/start/rank_places.hpp"
#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"
#include "core/launch/attempt/watch/job_pace.hpp"
#include "core/launch/binding/binding_report.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

class BindingWatch {
 public:
  BindingWatch(const AttemptSettings& settings,
               const AttemptClock& clock,
               RankTable& ranks,
               const RankPlaces& places,
               const JobPace& pace,
               Ending& ending,
               AttemptNews& news)
      : settings_(settings),
        clock_(clock),
        ranks_(ranks),
        places_(places),
        pace_(pace),
        ending_(ending),
        news_(news) {}

  // If `all_run` is false, programs are only starting, and a mismatch keeps the program from
  // starting if the binding is strict.
  void on_bound(unsigned rank, const Bound& message, bool all_run, Time now);
  // Call it once all ranks run.
  void on_tick(Time now);

  // The binding that all ranks reported, if it is news.
  [[nodiscard]] std::optional<BindingReport> take_report() {
    return std::exchange(report_, std::nullopt);
  }

 private:
  void end_if_misbound(unsigned rank, Time now);
  [[nodiscard]] BindingReport make_report(Time now);
  void tell(const BindingReport& report, Time now);
  void note_lines(const BindingReport& report);
  // Returns a description of the first mismatch; empty: there is none.
  [[nodiscard]] std::string record_mismatches(const BindingReport& report);
  void record_once(const BindingGroup& group, const BindingFinding& finding);

  const AttemptSettings& settings_;
  const AttemptClock& clock_;
  RankTable& ranks_;
  const RankPlaces& places_;
  const JobPace& pace_;
  Ending& ending_;
  AttemptNews& news_;
  std::map<unsigned, BoundState> bound_;  // the latest report of each rank
  std::set<unsigned> not_read_;  // ranks that have not reported their binding since the last report
  std::optional<Time> report_by_;
  unsigned reports_ = 0;
  std::vector<std::string> lines_;  // of the latest report
  std::set<std::string> recorded_;  // what the ledger already has
  std::optional<BindingReport> report_;
};

}  // namespace dts::launch
