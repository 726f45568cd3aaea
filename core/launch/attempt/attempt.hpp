// SPDX-License-Identifier: Apache-2.0
// One launch of all ranks, from the first hello to the last exit, as a state machine without I/O:
// events go in, messages and the outcome come out, and AttemptRunner transfers the bytes. Each
// phase is a class that owns its state; Attempt gives the phases messages and the time. Not
// thread-safe.
#pragma once

#include "core/launch/attempt/start/gathering.hpp"
#include "core/launch/attempt/start/node_check.hpp"
#include "core/launch/attempt/start/node_set_up.hpp"
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
  Attempt(const Attempt&) = delete;  // the phases refer to each other
  Attempt& operator=(const Attempt&) = delete;

  // --- events ---
  // `reached_at`: the agent's address that this peer connected to.
  void on_message(Peer peer, FromRank message, const std::string& reached_at, Time now);

  void on_lost(Peer peer, Time now) { exits_.on_lost(peer, now); }

  void on_launcher_exit(int code, Time now);
  void on_tick(Time now);

  // Every rank must save and exit 85; those still running at `kill_at` are killed. Later calls can
  // only bring kill_at forward and do not send a second signal.
  void on_stop(run::Cause cause, Time kill_at, const std::string& detail, Time now) {
    ending_.stop(cause, kill_at, detail, now);
  }

  // Kills every rank at once, because nothing can be saved any more.
  void on_run_vanished(const std::string& detail, Time now) {
    ending_.end({run::Cause::run_vanished, dts::exit_code(Errc::io), detail}, now);
  }

  // The launcher's step was signalled, but the batch script was not. While programs run, a
  // preemption may be beginning, so they must save. Earlier there is nothing to save, and the
  // launcher is most likely ending the other ranks because one could not start.
  void on_step_signal(run::Cause cause, const std::string& detail, Time now);
  // `left`: time until the scheduler ends the job. If the ranks have reported how long a save
  // takes, they are asked to save while there is time for it (stop_margin()).
  void on_time_left(Seconds left, Time now);

  // A new checkpoint was seen.
  void on_checkpoint(Time now) { hangs_.on_checkpoint(now); }

  // The results of probing the nodes of take_silent_nodes().
  void on_probed(const std::vector<NodeReach>& probed, Time now);
  // Nodes of take_mute_nodes() that reported that they cannot run ranks, see node_doubt.hpp.
  void on_unable(std::vector<run::UnfitNode> unable, Time now);
  // Asks all ranks to report again where their threads are.
  void on_verify();

  // The topology of the agent's own node. Call it before the last rank can have said hello.
  void set_topology(topo::NodeTopology topology) { settings_.topology = std::move(topology); }

  // The scheduler's address of each node, by name. Call it before the rendezvous, or never.
  void set_node_addresses(std::map<std::string, std::string> addresses) {
    rendezvous_.set_node_addresses(std::move(addresses));
  }

  // What the scheduler allotted on each node. Call it before the rendezvous, or never.
  void set_allotments(std::map<std::string, plan::Allotment> allotments) {
    places_.set_allotments(std::move(allotments));
  }

  // Whether the scheduler signals every process of a step, and not only the step's own children.
  // Call it before the ranks start, or never.
  void set_signals_reach_programs(bool reach) { start_.set_signals_reach_programs(reach); }

  // Adds a variable for all ranks; call it before they start.
  void add_environment(std::string name, std::string value) {
    settings_.environment.emplace_back(std::move(name), std::move(value));
  }

  // --- results; each take_*() returns its news only once ---
  // Messages to send, in order.
  [[nodiscard]] std::vector<std::pair<Peer, ToRank>> take_messages() {
    return ranks_.take_messages();
  }

  // Connections to close (bad token).
  [[nodiscard]] std::vector<Peer> take_refused() { return std::exchange(news_.refused, {}); }

  // True once, after all ranks have started: placements() and rendezvous() are final.
  [[nodiscard]] bool take_started() { return std::exchange(started_news_, false); }

  // True once, after a stop was requested while programs ran, and these have been signalled.
  [[nodiscard]] bool take_stop_news() { return ending_.take_stop_news(); }

  // Nodes to probe, because none of their ranks has said hello yet.
  [[nodiscard]] std::vector<std::string> take_silent_nodes() {
    return gathering_.silent_nodes().take_silent();
  }

  // Nodes that have been silent for so long that a step of its own should check, once, whether each
  // can run a rank at all.
  [[nodiscard]] std::vector<std::string> take_mute_nodes() {
    return gathering_.silent_nodes().take_mute();
  }

  // Lines for the log.
  [[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(news_.notes, {}); }

  // More events for the ledger: how far staging is, and once all ranks run, advice and stragglers.
  [[nodiscard]] std::vector<run::Event> take_events();

  // The binding that all ranks reported, if it is news; nullopt until all ranks run.
  [[nodiscard]] std::optional<BindingReport> take_binding() { return binding_.take_report(); }

  // A signal that a rank process received from outside; reported once.
  [[nodiscard]] std::optional<std::pair<unsigned, int>> take_signalled() {
    return std::exchange(news_.signalled, std::nullopt);
  }

  // The requested stop, if any.
  [[nodiscard]] const std::optional<AskedStop>& asked_stop() const { return ending_.asked_stop(); }

  [[nodiscard]] bool stopping() const { return asked_stop().has_value(); }

  // The highest step in any rank's heartbeat; 0: no steps reported.
  [[nodiscard]] std::uint64_t newest_step() const { return ranks_.newest_step(); }

  // How long a save takes, measured in this attempt, or otherwise in the previous one; 0: not
  // known.
  [[nodiscard]] Seconds save_time() const { return pace_.save_time(); }

  // Set when nothing of the attempt is left except perhaps the launcher.
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
  enum class Phase { gathering, meeting, checking, setting_up, starting, running };

  // True in `phase`, until the attempt begins to end.
  [[nodiscard]] bool is_in(Phase phase) const { return phase_ == phase && !ending_.begun(); }

  void on_rank(unsigned rank, FromRank& message, Time now);
  void on_failed(unsigned rank, const Failed& message, Time now);
  void on_not_launched(Peer peer, const NotLaunched& message, Time now);
  // Moves on to the next phase for as long as the current one is complete.
  void advance(Time now);
  void place_ranks(Time now);
  void set_up_nodes(Time now);
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
  NodeSetUp set_up_;
  ProgramStart start_;
  JobPace pace_;
  BindingWatch binding_;
  HangWatch hangs_;
  RankExits exits_;
};

}  // namespace dts::launch
