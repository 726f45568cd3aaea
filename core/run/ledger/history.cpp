// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/history.hpp"

#include "core/base/text/units.hpp"
#include "core/run/directory/run_directory.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace dts::run {

namespace {

// The beginning of an attempt, for comparison with its end.
struct Beginning {
  std::string checkpoint;
  std::string time;
};

std::chrono::seconds between(const std::string& begin, const std::string& end) {
  const auto from = parse_utc(begin);
  const auto to = parse_utc(end);
  if (!from || !to || *to < *from) return std::chrono::seconds(0);  // the clock was set back
  return std::chrono::duration_cast<std::chrono::seconds>(*to - *from);
}

// True for a cause that ends the computation without warning, so that unsaved work is lost.
bool costs_work(Cause cause) {
  const Kind kind = kind_of(cause);
  return kind == Kind::crash || kind == Kind::node_failed || kind == Kind::exit ||
         kind == Kind::disk || kind == Kind::damaged;
}

bool has_saved(const AttemptEnded& end, const Beginning& begun) {
  return end.saved || is_later_checkpoint(end.checkpoint, begun.checkpoint);
}

// A new checkpoint, or a step that no attempt has reached before.
bool is_progress(const AttemptEnded& end, const Beginning& begun, std::int64_t farthest) {
  return has_saved(end, begun) || end.step.value_or(-1) > farthest;
}

void count_end(const AttemptEnded& end,
               const Beginning& begun,
               std::int64_t farthest,
               Circumstances& counted) {
  const auto cause = end.cause.value();
  if (!cause) return;  // of a later release
  const Kind kind = kind_of(*cause);
  ++counted.failures[kind];
  const bool saved = has_saved(end, begun);
  const bool progress = is_progress(end, begun, farthest);
  // A program that only asked to be run again does not prove that the crashes are over.
  const bool shows_nothing = kind == Kind::launch || kind == Kind::node_failed ||
                             (kind == Kind::checkpointed && !progress);
  if (kind == Kind::crash)
    counted.without_progress = saved ? 0 : counted.without_progress + 1;
  else if (!shows_nothing)
    counted.without_progress = 0;
  if (progress) counted.unproven = 0;
  if (kind == Kind::checkpointed && !progress) ++counted.unproven;
}

}  // namespace

Circumstances count_failures(const std::vector<Event>& events) {
  Circumstances counted;
  std::map<unsigned, Beginning> begun;
  std::int64_t farthest = 0;  // the highest of all ended attempts
  for (const Event& event : events) {
    if (const auto* started = event.as<AttemptStarted>())
      begun[event.attempt] = {started->checkpoint, event.time};
    if (event.is<Resumed>()) counted = {};
    const auto* ended = event.as<AttemptEnded>();
    if (ended == nullptr) continue;
    const Beginning& beginning = begun[event.attempt];
    if (ended->cause.value()) counted.elapsed += between(beginning.time, event.time);
    count_end(*ended, beginning, farthest, counted);
    farthest = std::max(farthest, ended->step.value_or(-1));
  }
  return counted;
}

FailureRecord failure_record(const std::vector<Event>& events) {
  FailureRecord record;
  std::map<unsigned, std::string> since;  // by attempt: the time when all its ranks ran
  for (const Event& event : events) {
    if (event.is<Resumed>()) record = {0, Seconds(0), record.save};
    if (event.is<RanksStarted>()) since[event.attempt] = event.time;
    if (const auto* advised = event.as<Advised>())
      record.save = advised->save.value_or(record.save);
    const auto* ended = event.as<AttemptEnded>();
    if (ended == nullptr) continue;
    record.save = ended->save.value_or(record.save);
    const auto began = since.find(event.attempt);
    const auto cause = ended->cause.value();
    if (!cause || began == since.end()) continue;
    if (ended->unsaved || costs_work(*cause)) ++record.failures;
    // The time at which it vanished is unknown; it was only noticed later.
    if (*cause != Cause::agent_lost) record.running += between(began->second, event.time);
  }
  return record;
}

std::optional<unsigned> unfinished_attempt(const std::vector<Event>& events) {
  std::set<unsigned> open;
  for (const Event& event : events) {
    if (event.is<AttemptStarted>()) open.insert(event.attempt);
    if (event.is<AttemptEnded>()) open.erase(event.attempt);
  }
  if (open.empty()) return std::nullopt;
  return *open.rbegin();
}

bool is_asked_to_stop(const std::vector<Event>& events, unsigned attempt) {
  return std::any_of(events.begin(), events.end(), [attempt](const Event& event) {
    const auto* stop = event.as<StopRequested>();
    return stop != nullptr && event.attempt == attempt && stop->cause == Cause::stopped &&
           stop->detail != k_asked_by_part;
  });
}

std::optional<unsigned> stopped_attempt(const std::vector<Event>& events) {
  const auto begun = std::find_if(events.rbegin(), events.rend(), [](const Event& event) {
    return event.is<AttemptStarted, Resumed>();
  });
  if (begun == events.rend() || !begun->is<AttemptStarted>()) return std::nullopt;
  const bool is_over = std::any_of(begun.base(), events.end(), [&](const Event& event) {
    const auto* ended = event.as<AttemptEnded>();
    return event.is<Decided>() || (ended != nullptr && ended->cause == Cause::completed);
  });
  if (is_over || !is_asked_to_stop(events, begun->attempt)) return std::nullopt;
  return begun->attempt;
}

unsigned agents_lost_in_a_row(const std::vector<Event>& events) {
  unsigned lost = 0;
  std::string checkpoint;
  for (const Event& event : events) {
    if (event.is<Resumed>()) lost = 0;
    const auto* started = event.as<AttemptStarted>();
    if (started != nullptr && is_later_checkpoint(started->checkpoint, checkpoint)) {
      checkpoint = started->checkpoint;
      lost = 0;
    }
    if (const auto* ended = event.as<AttemptEnded>())
      lost = ended->cause == Cause::agent_lost ? lost + 1 : 0;
  }
  return lost;
}

const Event* final_decision(const std::vector<Event>& events) {
  const auto last = std::find_if(events.rbegin(), events.rend(), [](const Event& event) {
    return event.is<Decided, Resumed, AttemptStarted>();
  });
  return last != events.rend() && ends_run(*last) ? &*last : nullptr;
}

bool is_done(const std::vector<Event>& events) {
  const Event* last = final_decision(events);
  return last != nullptr && last->as<Decided>()->decision == Action::done;
}

bool is_cancelled_in_queue(const std::vector<Event>& events) {
  const auto last = std::find_if(events.rbegin(), events.rend(), [](const Event& event) {
    return event.is<Submitted, Requeued, Resubmitted, Resumed, AttemptStarted, Decided>() ||
           (event.is<StopRequested>() && event.attempt == 0);
  });
  const auto* stop = last != events.rend() ? last->as<StopRequested>() : nullptr;
  return stop != nullptr && stop->cause == Cause::cancelled;
}

}  // namespace dts::run
