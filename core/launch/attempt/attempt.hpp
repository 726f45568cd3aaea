// SPDX-License-Identifier: Apache-2.0
// One launch of all ranks, from the first hello to the last exit, as a state machine without I/O:
// events go in, messages and the outcome come out. The agent moves the bytes. Each phase is a class
// of its own that owns its state; here they get the messages and the time. Not thread-safe.
#pragma once

#include "core/launch/attempt/start/gathering.hpp"
#include "core/launch/attempt/start/node_check.hpp"
#include "core/launch/attempt/start/program_start.hpp"
#include "core/launch/attempt/start/rank_places.hpp"
#include "core/launch/attempt/start/rendezvous.hpp"
#include "core/launch/attempt/state/attempt_clock.hpp"
#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"
#include "core/launch/attempt/watch/binding_watch.hpp"
#include "core/launch/attempt/watch/hang_watch.hpp"
#include "core/launch/attempt/watch/job_pace.hpp"
#include "core/launch/attempt/watch/rank_exits.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

class Attempt {
 public:
  using Peer = launch::Peer;

  Attempt(AttemptSettings settings, Time now);
  Attempt(const Attempt&) = delete;  // the phases know each other
  Attempt& operator=(const Attempt&) = delete;

  // --- events ---
  // `reached_at`: the agent's address that this peer connected to.
  void on_message(Peer peer, FromRank message, const std::string& reached_at, Time now);

  void on_lost(Peer peer, Time now) { exits_.on_lost(peer, now); }

  void on_launcher_exit(int code, Time now);
  void on_tick(Time now);

  // Every rank is to save and exit 85; whoever still runs at `kill_at` is killed. Later calls only
  // move kill_at forward in time (earlier deadline) and do not send a second signal.
  void on_stop(run::Cause cause, Time kill_at, const std::string& detail, Time now) {
    ending_.stop(cause, kill_at, detail, now);
  }

  // Nothing can be saved any more: every rank is killed at once.
  void on_run_vanished(const std::string& detail, Time now) {
    ending_.end({run::Cause::run_vanished, dts::exit_code(Errc::io), detail}, now);
  }

  // The launcher's step was signalled, not the batch script. While programs run that may be the
  // beginning of a preemption, and they are to save. Before, there is nothing to save, and most
  // often the launcher ends the other ranks because one could not start.
  void on_step_signal(run::Cause cause, const std::string& detail, Time now);
  // So much is left until the scheduler ends the job. Where the ranks have told what a save takes,
  // they are asked for one while there is time for it (stop_margin()).
  void on_time_left(Seconds left, Time now);

  // A new checkpoint was seen.
  void on_checkpoint(Time now) { hangs_.on_checkpoint(now); }

  // What came of a look at the nodes of take_silent_nodes().
  void on_sights(const std::vector<NodeSight>& sights, Time now);
  // What nodes of take_mute_nodes() said of themselves, see node_doubt.hpp.
  void on_unable(std::vector<run::UnfitNode> unable, Time now);
  // All ranks are to say anew where their threads are.
  void on_verify();

  // Of the agent's own node, before the last rank can have said hello.
  void set_topology(topo::NodeTopology topology) { settings_.topology = std::move(topology); }

  // The scheduler's addresses by node name; may come at any time before the rendezvous, or not at
  // all.
  void set_node_addresses(std::map<std::string, std::string> addresses) {
    rendezvous_.set_node_addresses(std::move(addresses));
  }

  // What the scheduler gave of each node, likewise.
  void set_allotments(std::map<std::string, plan::Allotment> allotments) {
    places_.set_allotments(std::move(allotments));
  }

  // The scheduler signals every process of a step by itself, not only the step's own children;
  // known before the ranks start, or not at all.
  void set_signals_reach_programs(bool reach) { start_.set_signals_reach_programs(reach); }

  // One more variable for all ranks, before they start.
  void add_environment(std::string name, std::string value) {
    settings_.environment.emplace_back(std::move(name), std::move(value));
  }

  // --- results; each take_*() empties what it gives ---
  // Messages to send, in order.
  [[nodiscard]] std::vector<std::pair<Peer, ToRank>> take_messages() {
    return ranks_.take_messages();
  }

  // Connections to close (bad token).
  [[nodiscard]] std::vector<Peer> take_refused() { return std::exchange(news_.refused, {}); }

  // True once after all ranks have started: placements() and rendezvous() are final.
  [[nodiscard]] bool take_started() { return std::exchange(started_news_, false); }

  // True once after a stop was asked for while programs ran: the programs have been told.
  [[nodiscard]] bool take_stop_news() { return ending_.take_stop_news(); }

  // Nodes that are to be looked at because no rank of theirs has come yet.
  [[nodiscard]] std::vector<std::string> take_silent_nodes() {
    return gathering_.silent_nodes().take_to_look_at();
  }

  // Nodes that were silent for so long that each is to be asked, in a step of its own, whether it
  // can run a rank at all; once.
  [[nodiscard]] std::vector<std::string> take_mute_nodes() {
    return gathering_.silent_nodes().take_to_ask();
  }

  // What belongs into the log.
  [[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(news_.notes, {}); }

  // What belongs into the ledger besides, once all ranks run: advice, stragglers.
  [[nodiscard]] std::vector<run::Event> take_events();

  // What all ranks said of their binding, when there is something new; not before all run.
  [[nodiscard]] std::optional<BindingReport> take_binding() { return binding_.take_report(); }

  // A signal a rank process got from outside; reported once.
  [[nodiscard]] std::optional<std::pair<unsigned, int>> take_signalled() {
    return std::exchange(news_.signalled, std::nullopt);
  }

  // The stop that was asked for, if any.
  [[nodiscard]] const std::optional<AskedStop>& asked_stop() const { return ending_.asked_stop(); }

  [[nodiscard]] bool stopping() const { return asked_stop().has_value(); }

  // Of all ranks' heartbeats; 0: nobody has told of a step.
  [[nodiscard]] std::uint64_t newest_step() const { return ranks_.newest_step(); }

  // What a save takes, as this attempt or otherwise the one before has measured it; 0: not known.
  [[nodiscard]] Seconds save_time() const { return pace_.save_time(); }

  // Set when nothing of the attempt is left but perhaps the launcher.
  [[nodiscard]] const std::optional<run::Outcome>& outcome() const { return ending_.outcome(); }

  [[nodiscard]] const std::vector<plan::Placement>& placements() const {
    return places_.placements();
  }

  [[nodiscard]] const plan::Rendezvous& rendezvous() const { return rendezvous_.result(); }

  // See AttemptClock.
  [[nodiscard]] std::chrono::system_clock::time_point wall_at(Time time) const {
    return clock_.wall_at(time);
  }

 private:
  enum class Phase { gathering, meeting, checking, starting, running };

  // False for every phase once the attempt ends.
  [[nodiscard]] bool is_in(Phase phase) const { return phase_ == phase && !ending_.begun(); }

  void on_rank(unsigned rank, FromRank& message, Time now);
  void on_failed(unsigned rank, const Failed& message, Time now);
  void on_not_launched(Peer peer, const NotLaunched& message, Time now);
  // To the next phase, and the next, where one is complete.
  void advance(Time now);
  void place_ranks(Time now);
  void start_programs(Time now);

  AttemptSettings settings_;
  AttemptClock clock_;
  Phase phase_ = Phase::gathering;
  bool started_news_ = false;
  AttemptNews news_;
  RankTable ranks_;
  Ending ending_;
  Gathering gathering_;
  RankPlaces places_;
  Rendezvous rendezvous_;
  NodeCheck check_;
  ProgramStart start_;
  JobPace pace_;
  BindingWatch binding_;
  HangWatch hangs_;
  RankExits exits_;
};

}  // namespace dts::launch
