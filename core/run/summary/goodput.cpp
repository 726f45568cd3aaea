// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/goodput.hpp"

#include "core/base/text/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

namespace dts::run {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::system_clock::time_point;

constexpr std::chrono::seconds k_brief{10};  // between two reports of a program that makes progress

milliseconds rounded(double seconds) {
  return milliseconds(std::llround(seconds * 1000));
}

// The time in which an attempt's ranks ran, before it is divided by the program's reports.
struct Span {
  Time begin{};
  Time end{};
};

// Walks over the ledger: the time since the last event belongs to the phase which that event began.
class Account {
 public:
  Account(const std::vector<Event>& events,
          const RunSummary& summary,
          Time until,
          std::optional<Time> last_report)
      : summary_(summary),
        until_(until),
        last_report_(last_report.value_or(until)),
        tells_steps_(tells_steps(summary)) {
    for (const Event& event : events) {
      if (is_vanished(event)) vanished_.insert(event.attempt);
      if (const auto* ended = event.as<AttemptEnded>(); ended != nullptr && ended->stalled)
        stalled_[event.attempt] = rounded(std::clamp(ended->stalled->count(), 0.0, 1e9));
    }
  }

  void take(const Event& event) {
    const auto time = parse_utc(event.time);
    if (!begun_ && time) {
      now_ = std::min(*time, until_);
      begun_ = true;
    }
    // Only the program's reports show when the agent vanished; the ledger recorded it much later.
    const bool silent = is_vanished(event) || event.attempt != attempt_;
    if (silent && vanished_.count(attempt_) != 0 && state_ != State::computing)
      state_ = State::down;
    if (begun_ && !over_) advance(time ? *time : now_);
    if (over_ && time) reopen(event, *time);
    change(event);
  }

  Goodput finish() {
    if (begun_ && !over_) advance(until_);
    if (span_ && state_ == State::computing) {
      const Time heard = std::clamp(last_report_, span_->begin, span_->end);
      silent_ = std::chrono::duration_cast<milliseconds>(span_->end - heard);
    }
    close_attempt();
    Goodput result;
    result.attempts = std::move(done_);
    result.run = waited_;
    for (const auto& [number, use] : result.attempts) add(use, result.run);
    return result;
  }

 private:
  enum class State { queued, starting, computing, stopping, down };

  static bool is_vanished(const Event& event) {
    const auto* ended = event.as<AttemptEnded>();
    return ended != nullptr && ended->cause == Cause::agent_lost;
  }

  void advance(Time to) {
    to = std::min(std::max(to, now_), until_);  // if a clock was set back, no time has passed
    const auto passed = std::chrono::duration_cast<milliseconds>(to - now_);
    if (state_ == State::queued) waited_[Phase::queued] += passed;
    if (state_ == State::down) waited_[Phase::down] += passed;
    if (state_ == State::starting) use_[Phase::starting] += passed;
    if (state_ == State::stopping) use_[Phase::stopping] += passed;
    if (state_ == State::computing) span_->end = to;
    now_ = to;
  }

  // The end of a run stops its clock; the time until the user requests it again does not count.
  void reopen(const Event& event, Time time) {
    if (!event.is<Resumed, AttemptStarted, Requeued>()) return;
    over_ = false;
    state_ = State::down;
    advance(time);
  }

  void change(const Event& event) {
    if (event.is<AttemptStarted>()) return begin(event.attempt);
    if (event.attempt != 0 && event.attempt < attempt_)
      return;  // a late record of an attempt that was fenced off
    if (event.is<Submitted, Requeued, Resubmitted, Resumed>()) {
      close_attempt();
      state_ = State::queued;
    } else if (event.is<RanksStarted>() && attempt_ != 0 && !span_) {
      span_ = Span{now_, now_};
      state_ = State::computing;
    } else if (const auto* stop = event.as<StopRequested>();
               stop != nullptr && event.attempt == 0) {
      over_ = stop->cause == Cause::cancelled;  // taken out of the queue
    } else if (stop != nullptr && attempt_ != 0) {
      state_ = State::stopping;
    } else if (event.is<AttemptEnded>()) {
      close_attempt();
      state_ = State::down;
    } else if (const auto* decided = event.as<Decided>()) {
      if (decided->decision == Action::wait) state_ = State::queued;
      over_ = ends_run(event);
    }
  }

  void begin(unsigned number) {
    close_attempt();
    attempt_ = number;
    use_ = waited_;
    waited_ = {};
    state_ = State::starting;
  }

  void close_attempt() {
    if (attempt_ == 0) return;
    // Sorted by number, see summarise(); there may be very many.
    const auto told = std::lower_bound(
        summary_.attempts.begin(),
        summary_.attempts.end(),
        attempt_,
        [](const AttemptSummary& a, unsigned number) { return a.number < number; });
    const bool known = told != summary_.attempts.end() && told->number == attempt_;
    if (span_) divide(*span_, known ? *told : AttemptSummary{});
    TimeUse& all = done_[attempt_];  // used twice only if the ledger is not ours
    add(use_, all);
    attempt_ = 0;
    use_ = {};
    span_.reset();
  }

  static void add(const TimeUse& use, TimeUse& to) {
    for (const Phase phase : k_phases) to[phase] += use[phase];
    to.has_unmeasured = to.has_unmeasured || use.has_unmeasured;
  }

  static bool tells_steps(const RunSummary& summary) {
    return std::any_of(summary.attempts.begin(),
                       summary.attempts.end(),
                       [](const AttemptSummary& attempt) { return attempt.makes_progress; });
  }

  // Divides the time in which the ranks ran according to the program's reports.
  void divide(const Span& span, const AttemptSummary& told) {
    const auto training = parse_utc(told.training);
    const Time first = training ? std::clamp(*training, span.begin, span.end) : span.begin;
    use_[Phase::starting] += std::chrono::duration_cast<milliseconds>(first - span.begin);
    auto left = std::chrono::duration_cast<milliseconds>(span.end - first);
    if (vanished_.count(attempt_) != 0) {
      const auto alive = std::min(left, rounded(told.step_seconds + told.save_seconds));
      waited_[Phase::down] += left - alive;
      left = alive;
    }
    const auto stalled = std::min(left, stalled_[attempt_]);
    use_[Phase::stalled] += stalled;
    left -= stalled;
    const auto saving = std::min(left, rounded(told.save_seconds));
    use_[Phase::saving] += saving;
    left -= saving;
    if (told.makes_progress && silent_ > k_brief) {
      const auto silent = std::min(left, silent_);
      use_[Phase::unmeasured] += silent;
      use_.has_unmeasured = true;
      left -= silent;
    }
    if (!told.makes_progress) {
      // If a program reports steps in other attempts, it has not reached its first one here.
      use_[tells_steps_ ? Phase::starting : Phase::unmeasured] += left;
      use_.has_unmeasured = !tells_steps_;
      return;
    }
    const std::int64_t steps = told.last_step - std::max<std::int64_t>(0, told.first_step);
    const double part = steps > 0
                            ? static_cast<double>(std::max<std::int64_t>(0, told.steps_lost)) /
                                  static_cast<double>(steps)
                            : 0;
    const auto lost =
        rounded(std::clamp(part, 0.0, 1.0) * static_cast<double>(left.count()) / 1000);
    use_[Phase::lost] += std::min(lost, left);
    use_[Phase::computing] += left - std::min(lost, left);
  }

  const RunSummary& summary_;
  Time until_;
  Time last_report_;
  milliseconds silent_{};  // time since the last report of the attempt that still runs
  bool tells_steps_;       // in at least one attempt
  Time now_{};
  bool begun_ = false;
  bool over_ = false;
  State state_ = State::queued;
  unsigned attempt_ = 0;  // the current attempt; 0: none
  TimeUse use_;           // of the current attempt
  TimeUse waited_;        // since the end of the previous attempt
  std::optional<Span> span_;
  std::set<unsigned> vanished_;
  std::map<unsigned, milliseconds> stalled_;
  std::map<unsigned, TimeUse> done_;
};

}  // namespace

const char* to_string(Phase phase) {
  constexpr std::array<const char*, k_phases.size()> k_words{"computing",
                                                             "queued",
                                                             "starting",
                                                             "saving",
                                                             "lost",
                                                             "stopping",
                                                             "down",
                                                             "unmeasured",
                                                             "stalled"};
  return k_words.at(static_cast<std::size_t>(phase));
}

milliseconds TimeUse::total() const {
  return std::accumulate(spent.begin(), spent.end(), milliseconds(0));
}

double TimeUse::goodput() const {
  const auto all = total();
  const bool known = (*this)[Phase::computing].count() > 0 || !has_unmeasured;
  if (all.count() <= 0 || !known) return -1;
  return static_cast<double>((*this)[Phase::computing].count()) / static_cast<double>(all.count());
}

Goodput account(const std::vector<Event>& events,
                const RunSummary& summary,
                Time until,
                std::optional<Time> last_report) {
  Account account(events, summary, until, last_report);
  for (const Event& event : events) account.take(event);
  return account.finish();
}

std::map<std::string, double> in_seconds(const TimeUse& use) {
  const auto seconds = [](milliseconds time) { return static_cast<double>(time.count()) / 1000; };
  std::map<std::string, double> by_name{{"wall", seconds(use.total())}};
  for (const Phase phase : k_phases) by_name[to_string(phase)] = seconds(use[phase]);
  return by_name;
}

std::string duration_words(milliseconds time) {
  constexpr std::pair<std::int64_t, const char*> k_units[] = {
      {86'400, "d"}, {3'600, "h"}, {60, "min"}, {1, "s"}};
  std::int64_t rest = (time.count() + 500) / 1000;
  std::string words;
  for (const auto& [length, unit] : k_units) {
    const std::int64_t count = rest / length;
    rest %= length;
    const bool is_second = !words.empty();
    if (count > 0) words += fmt::format("{}{} {}", is_second ? " " : "", count, unit);
    if (is_second) break;
  }
  return words.empty() ? "0 s" : words;
}

std::string in_words(const TimeUse& use) {
  if (use.total().count() <= 0) return {};
  std::vector<Phase> others(k_phases.begin() + 1, k_phases.end());
  std::stable_sort(others.begin(), others.end(), [&](Phase a, Phase b) { return use[a] > use[b]; });
  std::string words =
      use.goodput() < 0
          ? fmt::format("unknown: the program reported no steps in {}", duration_words(use.total()))
          : fmt::format(
                "{:.0f} % of {} computing", 100 * use.goodput(), duration_words(use.total()));
  const char* between = "; ";
  for (const Phase phase : others) {
    if (use[phase] < std::chrono::seconds(1)) break;
    words += fmt::format("{}{} {}", between, to_string(phase), duration_words(use[phase]));
    between = ", ";
  }
  return words;
}

}  // namespace dts::run
