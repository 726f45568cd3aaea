// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/attempt.hpp"

#include "core/base/overload.hpp"
#include "core/launch/attempt/state/exit_code.hpp"

#include <fmt/format.h>

namespace dts::launch {

Attempt::Attempt(AttemptSettings settings, Time now)
    : settings_(std::move(settings)),
      clock_{now, settings_.wall},
      ranks_(settings_.plan.world_size, now),
      ending_(settings_, ranks_),
      gathering_(settings_, ranks_, ending_, news_, now),
      places_(settings_, ranks_, news_),
      rendezvous_(settings_, ranks_, places_, ending_, news_),
      check_(settings_, clock_, ranks_, places_, ending_, news_),
      set_up_(settings_, ranks_, places_, ending_, news_),
      start_(settings_, ranks_, places_, set_up_, ending_),
      pace_(settings_, ranks_, ending_, news_),
      binding_(settings_, clock_, ranks_, places_, pace_, ending_, news_),
      hangs_(settings_, ranks_, ending_, news_),
      exits_(settings_, ranks_, gathering_.silent_nodes(), ending_, news_) {}

void Attempt::on_message(Peer peer, FromRank message, const std::string& reached_at, Time now) {
  if (auto* hello = std::get_if<Hello>(&message)) {
    const unsigned rank = hello->rank.rank;
    if (gathering_.on_hello(peer, std::move(*hello), reached_at, now))
      check_.on_hello(rank, now);
    else
      news_.refused.push_back(peer);
  } else if (const auto* refused = std::get_if<Refused>(&message)) {
    gathering_.on_refused(peer, *refused, now);
  } else if (const auto* absent = std::get_if<NotLaunched>(&message)) {
    on_not_launched(peer, *absent, now);
  } else if (const auto rank = ranks_.rank_of(peer)) {
    on_rank(*rank, message, now);
  } else {
    news_.refused.push_back(peer);  // its first message was not a hello
  }
  advance(now);
}

void Attempt::on_rank(unsigned rank, FromRank& message, Time now) {
  const bool all_run = is_in(Phase::running);
  std::visit(Overload{
                 [&](Topology& m) {
                   if (is_in(Phase::gathering)) gathering_.on_topology(rank, std::move(m.text));
                 },
                 [&](const Measured& m) { check_.on_measured(rank, m, now); },
                 [&](const ClockReading& m) { check_.on_clock(rank, m, now); },
                 [&](const Listening& m) {
                   if (is_in(Phase::meeting)) rendezvous_.on_listening(rank, m, now);
                 },
                 [&](const Reached& m) {
                   if (is_in(Phase::meeting)) rendezvous_.on_reached(rank, m, now);
                 },
                 [&](SetUpEnded& m) {
                   if (is_in(Phase::setting_up)) set_up_.on_ended(rank, std::move(m), now);
                 },
                 [&](const Staging& m) {
                   if (is_in(Phase::setting_up)) set_up_.on_staging(rank, m, now);
                 },
                 [&](const Bound& m) {
                   if (all_run || is_in(Phase::starting)) binding_.on_bound(rank, m, all_run, now);
                 },
                 [&](const Started&) {
                   if (is_in(Phase::starting)) start_.on_started(rank, now);
                 },
                 [&](const Launched& m) { exits_.on_launched(rank, m, now); },
                 [&](const Exited& m) { exits_.on_exited(rank, m, now); },
                 [&](const Progress& m) { hangs_.on_progress(rank, m, now); },
                 [&](const Dumped& m) { hangs_.on_dumped(rank, m, now); },
                 [&](const Signalled& m) {
                   if (!news_.signalled) news_.signalled.emplace(rank, m.signal);
                 },
                 [&](const Failed& m) { on_failed(rank, m, now); },
                 [](const auto&) {},  // not sent by ranks
             },
             message);
}

void Attempt::on_failed(unsigned rank, const Failed& message, Time now) {
  if (message.program == 0)
    return ending_.end(
        {run::Cause::launch_failed, 1, fmt::format("{}: {}", ranks_.where(rank), message.message)},
        now);
  if (is_in(Phase::starting)) start_.on_no_program(rank, message, now);
}

void Attempt::on_not_launched(Peer peer, const NotLaunched& message, Time now) {
  news_.refused.push_back(peer);
  if (message.token != settings_.token || outcome()) return;
  const bool began = !is_in(Phase::gathering);
  exits_.withdraw_secondary_failure(now);
  ending_.end({began ? run::Cause::launcher_died : run::Cause::launch_failed, 1, message.message},
              now);
}

void Attempt::on_launcher_exit(int code, Time now) {
  if (is_in(Phase::gathering)) return gathering_.on_launcher_exit(code, now);
  if (outcome()) return;
  ending_.end({run::Cause::launcher_died,
               code != 0 ? code : 1,
               fmt::format("the launcher {} before its ranks", describe_exit(code))},
              now);
}

void Attempt::on_step_signal(run::Cause cause, const std::string& detail, Time now) {
  if (phase_ >= Phase::starting || ending_.begun())
    return ending_.stop(cause, Time::max(), detail, now);
  if (ending_.asked_stop() || ending_.failure()) return;
  gathering_.silent_nodes().end_unless_a_node_is_down(
      {run::Cause::launch_failed,
       1,
       fmt::format("the ranks were ended ({}) before any program ran", detail)},
      now);
}

void Attempt::on_time_left(Seconds left, Time now) {
  if (is_in(Phase::running)) pace_.on_time_left(left, now);
}

void Attempt::on_probed(const std::vector<NodeReach>& probed, Time now) {
  if (is_in(Phase::gathering)) gathering_.silent_nodes().on_probed(probed, now);
}

void Attempt::on_unable(std::vector<run::UnfitNode> unable, Time now) {
  if (is_in(Phase::gathering)) gathering_.silent_nodes().on_unable(std::move(unable), now);
}

void Attempt::on_verify() {
  if (is_in(Phase::running)) ranks_.send_alive(ReadBack{});
}

void Attempt::on_tick(Time now) {
  ending_.on_tick(now);
  if (!ending_.begun()) exits_.on_tick(now);
  if (ending_.begun()) return;
  switch (phase_) {
    case Phase::gathering:
      return gathering_.on_tick(now);
    case Phase::meeting:
      return rendezvous_.on_tick(now);
    case Phase::checking:
      return advance(now);
    case Phase::setting_up:
      return set_up_.on_tick(now);
    case Phase::starting:
      return start_.on_tick(now);
    case Phase::running:
      binding_.on_tick(now);
      if (!hangs_.has_found() && !stopping()) pace_.on_tick(now);
      hangs_.on_tick(now);
  }
}

void Attempt::advance(Time now) {
  if (is_in(Phase::gathering) && gathering_.is_complete()) place_ranks(now);
  if (is_in(Phase::meeting) && rendezvous_.is_settled()) {
    phase_ = Phase::checking;
    check_.begin(now);
  }
  if (is_in(Phase::checking) && (check_.all_answered() || check_.is_over(now)) && check_.judge(now))
    set_up_nodes(now);
  if (is_in(Phase::setting_up) && set_up_.all_done()) start_programs(now);
  if (is_in(Phase::starting) && start_.all_started()) {
    phase_ = Phase::running;
    started_news_ = true;
    pace_.begin(now);
    hangs_.begin(now);
    exits_.begin();
  }
}

void Attempt::place_ranks(Time now) {
  if (gathering_.silent_nodes().has_doubt())
    return gathering_.silent_nodes().end_with_suspected(now);
  if (auto placed = places_.place(gathering_.topologies()); !placed)
    return ending_.end(std::move(placed).error(), now);
  phase_ = Phase::meeting;
  rendezvous_.begin(now);
}

void Attempt::set_up_nodes(Time now) {
  phase_ = Phase::setting_up;
  set_up_.begin(now);
}

void Attempt::start_programs(Time now) {
  phase_ = Phase::starting;
  start_.begin(rendezvous_.result(), pace_.first_advice(), now);
}

std::vector<run::Event> Attempt::take_events() {
  std::vector<run::Event> events = std::exchange(news_.early, {});
  if (phase_ < Phase::running && !ending_.begun()) return events;
  for (run::Event& event : news_.events) events.push_back(std::move(event));
  news_.events.clear();
  return events;
}

}  // namespace dts::launch
