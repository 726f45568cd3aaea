// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/history.hpp"

#include "core/base/text/units.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace dts::run {

namespace {

// How an attempt began, to compare its end with.
struct Beginning {
  std::string checkpoint;
  std::string time;
};

std::chrono::seconds between(const std::string& begin, const std::string& end) {
  const auto from = parse_utc(begin);
  const auto to = parse_utc(end);
  if (!from || !to || *to < *from) return std::chrono::seconds(0);  // a clock was set back
  return std::chrono::duration_cast<std::chrono::seconds>(*to - *from);
}

// Ends the computing without a word before: what was not saved is lost.
bool costs_work(Cause cause) {
  const Kind kind = kind_of(cause);
  return kind == Kind::crash || kind == Kind::node_failed || kind == Kind::exit ||
         kind == Kind::disk || kind == Kind::damaged;
}

bool has_saved(const Event& end, const Beginning& begun) {
  return end.saved || end.checkpoint > begun.checkpoint;
}

// A new checkpoint, or a step that no attempt has reached before.
bool is_progress(const Event& end, const Beginning& begun, std::int64_t farthest) {
  return has_saved(end, begun) || end.step > farthest;
}

void count_end(const Event& event,
               const Beginning& begun,
               std::int64_t farthest,
               Circumstances& counted) {
  const auto cause = cause_from(event.cause);
  if (!cause) return;  // of a later release
  const std::chrono::seconds lasted = between(begun.time, event.time);
  counted.elapsed += lasted;
  const Kind kind = kind_of(*cause);
  ++counted.failures[kind];
  const bool saved = has_saved(event, begun);
  const bool progress = is_progress(event, begun, farthest);
  // A program that only asked to be run again has not shown that the crashes are over.
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
  std::int64_t farthest = 0;  // step of all ended attempts
  for (const Event& event : events) {
    if (event.event == "attempt_started") begun[event.attempt] = {event.checkpoint, event.time};
    if (event.event == "resumed") counted = {};
    if (event.event != "attempt_ended") continue;
    count_end(event, begun[event.attempt], farthest, counted);
    farthest = std::max(farthest, event.step);
  }
  return counted;
}

FailureRecord failure_record(const std::vector<Event>& events) {
  FailureRecord record;
  std::map<unsigned, std::string> since;  // when all its ranks ran, by attempt
  for (const Event& event : events) {
    if (event.event == "resumed") record = {0, Seconds(0), record.save};
    if (event.event == "ranks_started") since[event.attempt] = event.time;
    const bool ended = event.event == "attempt_ended";
    if (const auto save = event.seconds.find("save");
        save != event.seconds.end() && (ended || event.event == "advised"))
      record.save = Seconds(save->second);
    const auto began = since.find(event.attempt);
    const auto cause = cause_from(event.cause);
    if (!ended || !cause || began == since.end()) continue;
    if (event.unsaved || costs_work(*cause)) ++record.failures;
    // Nobody knows when it vanished: it was found later.
    if (*cause != Cause::agent_lost) record.running += between(began->second, event.time);
  }
  return record;
}

std::optional<unsigned> unfinished_attempt(const std::vector<Event>& events) {
  std::set<unsigned> open;
  for (const Event& event : events) {
    if (event.event == "attempt_started") open.insert(event.attempt);
    if (event.event == "attempt_ended") open.erase(event.attempt);
  }
  if (open.empty()) return std::nullopt;
  return *open.rbegin();
}

const Event* final_decision(const std::vector<Event>& events) {
  const auto last = std::find_if(events.rbegin(), events.rend(), [](const Event& event) {
    return event.event == "decided" || event.event == "resumed" || event.event == "attempt_started";
  });
  const bool ends = last != events.rend() && (last->decision == "stop" || last->decision == "done");
  return ends ? &*last : nullptr;
}

}  // namespace dts::run
