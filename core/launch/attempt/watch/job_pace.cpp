// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/watch/job_pace.hpp"

#include "core/launch/attempt/watch/stop_margin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_pace_look{2};
constexpr std::size_t k_most_stragglers = 8;  // named in the ledger, at most

Seconds from_milliseconds(std::uint64_t time) {
  return std::chrono::duration<double, std::milli>(static_cast<double>(time));
}

std::uint64_t to_milliseconds(Seconds time) {
  return static_cast<std::uint64_t>(std::llround(time.count() * 1000));
}

run::Event event_of(const Advice& advice) {
  return {.what = run::Advised{.detail = in_words(advice),
                               .every = advice.every,
                               .failure = advice.failure,
                               .save = advice.save}};
}

std::string in_words(const Straggler& slow, const std::string& who) {
  const char* what = slow.phase == SlowPhase::save    ? "its saves take"
                     : slow.phase == SlowPhase::input ? "its steps wait for input and take"
                                                      : "its own work takes";
  return fmt::format("{} is slow: {} {} ms, {:.1f} times the {} ms of the others",
                     who,
                     what,
                     slow.own,
                     slow.factor(),
                     slow.others);
}

}  // namespace

Seconds JobPace::longest(std::uint64_t Pace::*what) const {
  std::uint64_t most = 0;
  for (const auto& [rank, state] : ranks_) most = std::max(most, state.progress.pace.*what);
  return from_milliseconds(most);
}

Seconds JobPace::save_time() const {
  const Seconds measured = longest(&Pace::save);
  return measured.count() > 0 ? measured : settings_.record.save;
}

std::uint64_t JobPace::first_advice() {
  if (const auto advice = advice_.update(save_time(), Seconds(0)))
    news_.events.push_back(event_of(*advice));
  return to_milliseconds(advice_.every());
}

void JobPace::on_tick(Time now) {
  if (now < next_poll_) return;
  next_poll_ = now + k_pace_look;
  if (const auto advice = advice_.update(save_time(), now - running_since_)) {
    if (advice->notable) news_.events.push_back(event_of(*advice));
    ranks_.send_alive(Advise{to_milliseconds(advice->every)});
  }
  name_stragglers();
}

void JobPace::on_time_left(Seconds left, Time now) {
  const Seconds save = save_time();
  if (ending_.asked_stop() || save.count() <= 0) return;
  const Seconds margin = stop_margin(save, longest(&Pace::pause), left + (now - running_since_));
  if (left > margin) return;
  ending_.stop(run::Cause::time_limit,
               Time::max(),
               fmt::format("the time limit is near: {:.0f} s left, and a save takes {}",
                           left.count(),
                           format_duration(save)),
               now);
}

void JobPace::name_stragglers() {
  std::map<unsigned, Pace> paces;
  for (const auto& [rank, state] : ranks_)
    if (!state.exit_code) paces.emplace(rank, state.progress.pace);
  std::vector<unsigned> recovered;
  for (const Straggler& slow : stragglers_.judge(paces, recovered)) name(slow);
  for (const unsigned rank : recovered)
    news_.notes.push_back(ranks_.where(rank) + " is no longer slow");
}

void JobPace::name(const Straggler& slow) {
  std::string words = in_words(slow, ranks_.where(slow.rank));
  if (named_.size() >= k_most_stragglers || !named_.insert(slow.rank).second)
    return news_.notes.push_back(std::move(words));
  news_.events.push_back({.what = run::Straggler{.detail = std::move(words),
                                                 .rank = slow.rank,
                                                 .node = ranks_.at(slow.rank).node(),
                                                 .phase = slow.phase,
                                                 .others = from_milliseconds(slow.others),
                                                 .own = from_milliseconds(slow.own)}});
}

}  // namespace dts::launch
