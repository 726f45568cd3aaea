// SPDX-License-Identifier: Apache-2.0
// One launch of all ranks, from the first hello to the last exit, as a state machine without I/O:
// events go in, messages and the outcome come out. The agent moves the bytes. Not thread-safe.
#pragma once

#include "core/launch/attempt/checkpoint_advice.hpp"
#include "core/launch/attempt/second_launcher.hpp"
#include "core/launch/attempt/straggler.hpp"
#include "core/launch/binding/binding_report.hpp"
#include "core/launch/health/node_probe.hpp"
#include "core/launch/health/preflight.hpp"
#include "core/launch/wire/protocol.hpp"
#include "core/plan/allotment.hpp"
#include "core/run/ledger/decision.hpp"
#include "core/run/ledger/ledger.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

using Time = std::chrono::steady_clock::time_point;

struct AttemptSettings {
  plan::Plan plan;
  unsigned number = 1;
  std::string token;            // hellos without it are turned away
  std::vector<unsigned> ports;  // candidates for MASTER_PORT, in order
  std::vector<std::pair<std::string, std::string>>
      environment;     // DTSUBMIT_*, the same for all ranks
  std::string folder;  // attempt-<k>, for rank-<r>.log
  int stop_signal = 15;
  bool log_timestamps = false;
  int hang_seconds = 0;                    // as in Go
  std::chrono::seconds quiet_limit{3600};  // without a sign of life, after which it is said
  bool strict_binding = false;             // another binding than planned is the end
  std::string agent_node;
  std::optional<topo::NodeTopology> topology;  // of agent_node, where the agent has looked itself
  std::vector<std::string> nodes;              // of the allocation; empty: not known
  std::chrono::seconds launch_limit{120};      // for all hellos, and then for all starts
  run::FailureRecord record{};                 // of the run's earlier attempts
  // For what is measured on each node; 0: nothing is.
  std::chrono::seconds preflight{0};
  std::string run_directory{};                   // where ranks write
  std::optional<std::uint64_t> memory_mib{};     // asked on each node
  std::chrono::system_clock::time_point wall{};  // the agent's clock when the attempt is made
};

class Attempt {
 public:
  using Peer = int;  // the agent's number for a connection

  Attempt(AttemptSettings settings, Time now);

  // --- events ---
  // `reached_at`: the agent's address that this peer connected to.
  void on_message(Peer peer, FromRank message, const std::string& reached_at, Time now);
  void on_lost(Peer peer, Time now);
  void on_launcher_exit(int code, Time now);
  void on_tick(Time now);
  // Every rank is to save and exit 85; whoever still runs at `kill_at` is killed. Later calls only
  // move kill_at forward in time (earlier deadline) and do not send a second signal.
  void on_stop(run::Cause cause, Time kill_at, const std::string& detail, Time now);

  // Nothing can be saved any more: every rank is killed at once.
  void on_run_vanished(const std::string& detail, Time now) {
    end(run::Cause::run_vanished, dts::exit_code(Errc::io), detail, now);
  }

  // The launcher's step was signalled, not the batch script. While programs run that may be the
  // beginning of a preemption, and they are to save. Before, there is nothing to save, and most
  // often the launcher ends the other ranks because one could not start.
  void on_step_signal(run::Cause cause, const std::string& detail, Time now);

  // So much is left until the scheduler ends the job. Where the ranks have told what a save takes,
  // they are asked for one while there is time for it (stop_margin()).
  void on_time_left(Seconds left, Time now);

  // A new checkpoint was seen.
  void on_checkpoint(Time now) { saved_at_ = now; }

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
    node_addresses_ = std::move(addresses);
  }

  // What the scheduler gave of each node, likewise.
  void set_allotments(std::map<std::string, plan::Allotment> allotments) {
    allotments_ = std::move(allotments);
  }

  // The scheduler signals every process of a step by itself, not only the step's own children;
  // known before the ranks start, or not at all.
  void set_signals_reach_programs(bool reach) { signals_reach_programs_ = reach; }

  // One more variable for all ranks, before they start.
  void add_environment(std::string name, std::string value) {
    settings_.environment.emplace_back(std::move(name), std::move(value));
  }

  // --- results ---
  // Messages to send, in order; empties the queue.
  [[nodiscard]] std::vector<std::pair<Peer, ToRank>> take_messages();
  // Connections to close (bad token); empties the list.
  [[nodiscard]] std::vector<Peer> take_refused();
  // True once after all ranks have started: placements() and rendezvous() are final.
  [[nodiscard]] bool take_started();
  // True once after a stop was asked for while programs ran: the programs have been told.
  [[nodiscard]] bool take_stop_news();

  [[nodiscard]] std::optional<run::Cause> stop_cause() const { return stop_cause_; }

  [[nodiscard]] const std::string& stop_detail() const { return stop_detail_; }

  // Nodes that are to be looked at because no rank of theirs has come yet; empties the list.
  [[nodiscard]] std::vector<std::string> take_silent_nodes();
  // Nodes that were silent for so long that each is to be asked, in a step of its own, whether it
  // can run a rank at all; once, then empty.
  [[nodiscard]] std::vector<std::string> take_mute_nodes();
  // What belongs into the log; empties the list.
  [[nodiscard]] std::vector<std::string> take_notes();

  // What belongs into the ledger besides, once all ranks run: advice, stragglers; empties the list.
  [[nodiscard]] std::vector<run::Event> take_events();
  // What all ranks said of their binding, when there is something new; not before all run.
  [[nodiscard]] std::optional<BindingReport> take_binding();
  // Of all ranks' heartbeats; 0: nobody has told of a step.
  [[nodiscard]] std::uint64_t newest_step() const;
  // What a save takes, as this attempt or else the one before has measured it; 0: not known.
  [[nodiscard]] Seconds save_time() const;

  // A signal a rank process got from outside; reported once.
  [[nodiscard]] std::optional<std::pair<unsigned, int>> take_signalled();

  // Set when nothing of the attempt is left but perhaps the launcher.
  [[nodiscard]] const std::optional<run::Outcome>& outcome() const { return outcome_; }

  [[nodiscard]] bool stopping() const { return stop_cause_.has_value(); }

  [[nodiscard]] const std::vector<plan::Placement>& placements() const { return placements_; }

  [[nodiscard]] const plan::Rendezvous& rendezvous() const { return rendezvous_; }

  // The agent's clock at `time`, as it went when the attempt was made: one that is set meanwhile
  // must not end it.
  [[nodiscard]] std::chrono::system_clock::time_point wall_at(Time time) const {
    return settings_.wall + (time - began_);
  }

 private:
  static constexpr std::chrono::seconds k_rendezvous_limit{20};

  enum class Phase { gathering, listening, probing, checking, starting, running, ending };

  struct Rank {
    Peer peer = -1;
    Hello hello;
    std::string topology;
    std::string reached_at;
    bool started = false;
    std::optional<int> exit_code;

    bool gone = false;  // its connection is closed
    Progress progress{};
    Time heard{};         // of its program's start or progress last
    bool dumped = false;  // its stacks are written
    std::optional<BoundState> bound{};
    bool done = false;           // it said so, see BeatPage
    bool ended_unasked = false;  // before any stop
    bool told_to_die = false;
    std::optional<Failed>
        no_program{};  // why its program cannot be started, where it is the program's

    // Has said hello, but not all that belongs to it.
    [[nodiscard]] bool is_late() const { return hello.topology && topology.empty(); }
  };

  void on(Peer peer, Hello&& hello, const std::string& reached_at, Time now);
  void on(Peer peer, const Refused& message, Time now);
  void on(unsigned rank, Topology&& message, Time now);
  void on(Peer peer, const NotLaunched& message, Time now);
  void on(unsigned rank, const Measured& message, Time now);
  void on(unsigned rank, const ClockReading& message, Time now);
  void on(unsigned rank, const Listening& message, Time now);
  void on(unsigned rank, const Reached& message, Time now);
  void on(unsigned rank, const Bound& message, Time now);
  void on(unsigned rank, const Started& message, Time now);
  void on(unsigned rank, const Launched& message, Time now);
  void on(unsigned rank, const Exited& message, Time now);
  void on(unsigned rank, const Progress& message, Time now);
  void on(unsigned rank, const Dumped& message, Time now);

  void begin_rendezvous_if_all_came(Time now);
  void hold_to_allotment(const std::string& node, topo::NodeTopology& topology);
  void begin_probes();
  // The routes by which every prober reached `address`, in the order of `probers_`; empty: not all
  // did.
  [[nodiscard]] std::vector<Route> routes_to(const std::string& address) const;
  void meet_at(const std::string& address, const std::vector<Route>& routes);
  // Pre-flight: see attempt_preflight.cpp.
  void begin_check(unsigned rank, Time now);
  void start_when_checked(Time now);
  [[nodiscard]] bool all_checked() const;
  void judge_nodes(Time now);
  [[nodiscard]] std::vector<Finding> findings_of(const std::string& node) const;
  void end_unfit(const std::map<std::string, NodeVerdict>& unfit, Time now);
  void start_ranks(Time now);
  // Why the attempt ends, unless that is known already.
  void blame(run::Cause cause, int exit_code, std::string detail, std::optional<unsigned> rank);
  void end(run::Cause cause,
           int exit_code,
           std::string detail,
           Time now,
           std::optional<unsigned> rank = {});
  void check_progress(Time now);
  void look_at_pace(Time now);
  void name_stragglers();
  // Ranks that cannot start their program: see attempt_no_program.cpp.
  void on_no_program(unsigned rank, const Failed& message, Time now);
  void judge_no_program(Time now);
  void end_no_program(Time now);
  void end_without_nodes(const std::map<std::string, unsigned>& ranks, Time now);
  // Launchers of the program's own: see attempt_launched.cpp.
  void end_ranks_twice(const RanksTwice& twice, Time now);
  void judge_ranks_twice(Time now);
  void judge_failed_launcher(unsigned rank, Time now);
  // Binding: see attempt_binding.cpp.
  [[nodiscard]] PlannedBinding planned_binding(unsigned rank) const;
  void look_at_binding(Time now);
  void tell_binding(const BindingReport& report, Time now);
  // Of all ranks, of one of the times in their paces; 0: nobody has told.
  [[nodiscard]] Seconds longest(std::uint64_t Pace::*what) const;
  // Milliseconds, from what earlier attempts measured; 0: nothing.
  [[nodiscard]] std::uint64_t first_advice();

  // The rank that the others most likely wait for, and why it is thought so: see attempt_hang.cpp.
  struct Culprit {
    unsigned rank = 0;
    std::string why;  // "rank 1 on n0 is stopped by a signal"
  };

  [[nodiscard]] Culprit culprit() const;
  [[nodiscard]] std::optional<Culprit> inactive_rank() const;
  [[nodiscard]] bool all_stalled() const;
  void look_for_quiet(Time now);
  void end_hang(Time now);
  void on_failed_exit(unsigned rank, const Exited& message, Time now);
  // The failure that may be another's fault, if it is only a moment old.
  void withdraw_victim(Time now);
  void kill_all(Time now);
  // end(), but while nodes are silent only after a look at them: one of them may be the reason.
  void end_unless_a_node_is_down(run::Outcome outcome, Time now);
  void finish_if_all_ended();
  [[nodiscard]] run::Outcome end_of_stop(bool saved) const;
  [[nodiscard]] run::Outcome end_of_zeros() const;
  [[nodiscard]] std::optional<unsigned> done_rank() const;  // the first that said it is done
  [[nodiscard]] bool is_ended_by_stop() const;
  [[nodiscard]] std::string name_unsaved() const;

  void send(unsigned rank, ToRank message) {
    messages_.emplace_back(ranks_.at(rank).peer, std::move(message));
  }

  [[nodiscard]] std::vector<unsigned> missing() const;
  // A node of which some ranks said hello and the others should have; empty: none yet.
  [[nodiscard]] std::string incomplete_node(Time now) const;
  // The nodes that no rank has said hello from; empty where the nodes are not known.
  [[nodiscard]] std::vector<std::string> silent_nodes() const;
  void look_for_silent_nodes(Time now);
  void judge(const std::vector<NodeSight>& sights,
             const std::vector<std::string>& silent,
             Time now);
  void end_in_doubt(Time now);
  [[nodiscard]] std::string describe_silence() const;  // "; of n1: up, and its slurmd answers"
  [[nodiscard]] std::vector<std::string> address_candidates() const;
  [[nodiscard]] std::string where(unsigned rank) const;  // "rank 3 on n1"
  [[nodiscard]] std::string nonce() const;  // proves to a prober that it reached this job's rank 0

  AttemptSettings settings_;
  Phase phase_ = Phase::gathering;
  Time began_;
  Time last_hello_;
  Time phase_limit_;
  std::map<unsigned, Rank> ranks_;  // by rank
  std::map<Peer, unsigned> rank_of_;
  unsigned late_ = 0;  // ranks with Rank::is_late()
  Time next_look_;     // at silent nodes
  std::vector<std::string> to_look_at_;
  std::vector<std::string> to_ask_;
  bool asked_ = false;
  std::map<std::string, Reach> last_sight_;  // of silent nodes
  Time settle_until_ = Time::max();          // a program failed, perhaps because another was killed
  std::optional<run::Outcome> doubt_;  // the end, if no silent node turns out to be the reason
  Time doubt_until_;
  std::vector<std::string> notes_;
  std::map<std::string, std::string> node_addresses_;
  std::map<std::string, plan::Allotment> allotments_;
  bool signals_reach_programs_ = false;

  struct NodeCheck {
    Time asked;  // for its clock
    std::optional<NodeFacts> facts{};
    std::optional<Finding> clock{};
    bool clock_known = false;
  };

  std::map<std::string, NodeCheck> checks_;         // by node
  std::map<std::string, std::size_t> pci_gpus_;     // likewise
  std::map<unsigned, std::vector<Route>> reached_;  // by probing rank
  std::vector<unsigned> probers_;                   // ascending
  std::vector<plan::Placement> placements_;
  plan::Rendezvous rendezvous_;
  std::optional<run::Cause> stop_cause_;
  std::string stop_detail_;
  Time kill_at_ = Time::max();
  Time give_up_at_ = Time::max();  // killed ranks that do not answer are left to the launcher's end

  struct Hang {
    unsigned first = 0;    // the rank that said so first
    unsigned stalled = 0;  // seconds, as it said
    Time give_up;          // on the stacks
  };

  std::optional<Hang> hang_;
  bool quiet_ = false;  // the ledger says so
  Time saved_at_;       // of the newest checkpoint, or the ranks' start
  Time next_silence_look_;
  Time running_since_;  // all ranks
  Time next_pace_look_;
  CheckpointAdvice advice_;
  StragglerWatch stragglers_;
  std::set<unsigned> named_;  // stragglers that the ledger has
  std::vector<run::Event> events_;
  Time last_check_;

  std::map<std::string, std::set<unsigned>> node_cpus_;  // that the plan uses, by node
  std::set<unsigned>
      not_read_;  // ranks that have not spoken of their binding since the last report
  std::optional<Time> report_binding_by_;
  unsigned binding_reports_ = 0;
  std::vector<std::string> binding_lines_;  // of the last report
  std::set<std::string> binding_events_;    // what the ledger has of it
  std::optional<BindingReport> binding_news_;
  Time no_program_until_ = Time::max();  // a rank has said so, the others are waited for
  SecondLaunchers launchers_;
  Time twice_at_ = Time::max();          // ranks seem to be there twice, and then are for sure
  std::optional<unsigned> first_saved_;  // the first rank that exited 85
  bool started_news_ = false;
  bool stop_news_ = false;
  bool stop_news_given_ = false;  // programs have been asked to stop
  std::optional<std::pair<unsigned, int>> signalled_;
  std::optional<run::Outcome> failure_;  // the first reason to end, if any
  std::optional<run::Outcome> outcome_;
  std::vector<std::pair<Peer, ToRank>> messages_;
  std::vector<Peer> refused_;
};

}  // namespace dts::launch
