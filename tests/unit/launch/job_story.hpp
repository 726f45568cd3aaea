// SPDX-License-Identifier: Apache-2.0
// A job with some nodes and ranks, played against the agent's state machine in a test's words:
// job.all_hello().listening(29500).all_reached().all_started().exits(3, 1).
#pragma once

#include "core/launch/attempt/attempt.hpp"
#include "core/topo/json.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

// The peer of rank r is 100 + r; the address of node n1 is 10.0.0.1. Every node has two cores per
// rank.
class JobStory {
 public:
  explicit JobStory(unsigned nodes = 2,
                    unsigned per_node = 2,
                    unsigned gpus = 0,
                    std::chrono::seconds preflight = {},
                    const run::FailureRecord& record = {})
      : per_node_(per_node),
        start_(Time::clock::now()),
        now_(start_),
        settings_(settings(nodes, per_node, gpus, preflight, record)),
        attempt_(std::make_unique<Attempt>(settings_, start_)) {}

  // As with --strict-binding; call it before anything happens.
  JobStory& strict_binding() {
    settings_.spec.strict_binding = true;
    attempt_ = std::make_unique<Attempt>(settings_, start_);
    return *this;
  }

  // Its program is torchrun.
  JobStory& torchrun() {
    settings_.plan.workers_per_task = 2;
    attempt_ = std::make_unique<Attempt>(settings_, start_);
    return *this;
  }

  // A program that is started once on each node, and starts 8 processes itself.
  JobStory& program(std::vector<std::string> command) {
    settings_.plan.command = std::move(command);
    settings_.plan.workers_per_task = 8;
    attempt_ = std::make_unique<Attempt>(settings_, start_);
    return *this;
  }

  JobStory& set_up(const std::string& script) {
    settings_.set_up = script;
    attempt_ = std::make_unique<Attempt>(settings_, start_);
    return *this;
  }

  JobStory& stage(const std::string& item) {
    settings_.spec.stage = {item};
    return set_up("dts_stage");
  }

  JobStory& bind_threads(const char* runtime) {
    settings_.plan.bind_threads = runtime;
    attempt_ = std::make_unique<Attempt>(settings_, start_);
    return *this;
  }

  JobStory& meet_on(const std::string& interface) {
    settings_.spec.interface = interface;
    attempt_ = std::make_unique<Attempt>(settings_, start_);
    return *this;
  }

  [[nodiscard]] unsigned world() const { return world_; }

  [[nodiscard]] static Attempt::Peer peer_of(unsigned rank) { return 100 + static_cast<int>(rank); }

  [[nodiscard]] std::string node_of(unsigned rank) const {
    return "n" + std::to_string(rank / per_node_);
  }

  // The correct hello of a rank.
  [[nodiscard]] Hello hello_of(unsigned rank) const {
    Hello hello;
    hello.token = "secret";
    hello.rank = {rank, world_, rank % per_node_, node_of(rank), {}};
    hello.host = hello.rank.node;
    hello.pid = 1000 + static_cast<int>(rank);
    hello.addresses = {"10.0.0." + std::to_string(rank / per_node_), "127.0.0.1"};
    hello.worker_port = 21000 + rank;
    hello.topology = hello.rank.local_rank == 0;
    return hello;
  }

  // --- what happens ---
  JobStory& says(Attempt::Peer peer, FromRank message, const std::string& reached_at = "10.0.0.0") {
    attempt_->on_message(peer, std::move(message), reached_at, now_);
    return collect();
  }

  JobStory& hello(unsigned rank) { return hello(rank, hello_of(rank)); }

  // As that rank, but with an incorrect hello.
  JobStory& hello(unsigned rank, Hello hello) {
    const bool more = hello.topology;
    says(peer_of(rank), std::move(hello));
    return more ? says(peer_of(rank), Topology{topo::to_json(topology())}) : *this;
  }

  JobStory& all_hello() {
    for (unsigned rank = 0; rank < world_; ++rank) hello(rank);
    return *this;
  }

  JobStory& listening(unsigned port) { return says(peer_of(0), Listening{port}); }

  // `rank` reached rank 0 by each of these addresses, from its own and over `interface`.
  JobStory& reached(unsigned rank,
                    const std::vector<std::string>& by,
                    const std::string& interface = "eth0") {
    Reached message;
    for (const std::string& address : by)
      message.routes.push_back({address, hello_of(rank).addresses.front(), interface});
    return says(peer_of(rank), message);
  }

  // Every rank that was asked to probe reaches everything it was given.
  JobStory& all_reached(const std::string& interface = "eth0") {
    for (unsigned rank = 0; rank < world_; ++rank)
      for (const Probe& probe : told<Probe>(rank)) reached(rank, probe.addresses, interface);
    return *this;
  }

  JobStory& started(unsigned rank) {
    return says(peer_of(rank), Started{2000 + static_cast<int>(rank)});
  }

  JobStory& all_started() {
    for (unsigned rank = 0; rank < world_; ++rank) started(rank);
    return *this;
  }

  JobStory& exits(unsigned rank, int code) { return says(peer_of(rank), Exited{code}); }

  JobStory& all_exit(int code) {
    for (unsigned rank = 0; rank < world_; ++rank) exits(rank, code);
    return *this;
  }

  // From the first hello to running programs.
  JobStory& running() { return all_hello().listening(20001).all_reached().all_started(); }

  JobStory& lost(unsigned rank) { return lost_peer(peer_of(rank)); }

  JobStory& lost_peer(Attempt::Peer peer) {
    attempt_->on_lost(peer, now_);
    return collect();
  }

  JobStory& launcher_exits(int code) {
    attempt_->on_launcher_exit(code, now_);
    return collect();
  }

  JobStory& stop(run::Cause cause, std::chrono::seconds grace) {
    attempt_->on_stop(cause, now_ + grace, run::to_string(cause), now_);
    return collect();
  }

  // Time passes in steps of a second, matching the agent's checks of its clock.
  JobStory& wait(std::chrono::seconds time) {
    for (auto i = time.count(); i > 0; --i) {
      now_ += std::chrono::seconds(1);
      attempt_->on_tick(now_);
    }
    return collect();
  }

  // Long enough for the rank that caused a failure to be heard.
  JobStory& settle() { return wait(std::chrono::seconds(1)); }

  // The result of a probe of silent nodes.
  JobStory& sees(const std::vector<NodeReach>& probed) {
    attempt_->on_probed(probed, now_);
    return collect();
  }

  // Killed ranks report it.
  JobStory& killed_ranks_exit() {
    for (unsigned rank = 0; rank < world_; ++rank)
      if (!told<Kill>(rank).empty()) exits(rank, 137);
    return *this;
  }

  // --- what resulted ---
  template <class Message>
  [[nodiscard]] std::vector<Message> told(unsigned rank) const {
    std::vector<Message> found;
    for (const auto& [peer, message] : sent_)
      if (peer == peer_of(rank))
        if (const auto* one = std::get_if<Message>(&message)) found.push_back(*one);
    return found;
  }

  // The number of messages of a kind sent to all ranks.
  template <class Message>
  [[nodiscard]] std::size_t count() const {
    std::size_t total = 0;
    for (unsigned rank = 0; rank < world_; ++rank) total += told<Message>(rank).size();
    return total;
  }

  [[nodiscard]] bool refused(Attempt::Peer peer) const {
    for (const Attempt::Peer one : refused_)
      if (one == peer) return true;
    return false;
  }

  [[nodiscard]] std::map<std::string, std::string> environment_of_rank(unsigned rank) const {
    std::map<std::string, std::string> variables;
    for (const Go& go : told<Go>(rank))
      variables.insert(go.environment.begin(), go.environment.end());
    return variables;
  }

  [[nodiscard]] bool over() const { return attempt_->outcome().has_value(); }

  [[nodiscard]] run::Outcome outcome() const {
    return attempt_->outcome().value_or(run::Outcome{run::Cause::agent_lost, -1, "not over"});
  }

  [[nodiscard]] bool says_why(const std::string& words) const {
    return outcome().detail.find(words) != std::string::npos;
  }

  Attempt& attempt() { return *attempt_; }

  [[nodiscard]] Time now() const { return now_; }

  // The agent's clock, Unix time.
  [[nodiscard]] std::chrono::milliseconds wall_now() const {
    return k_wall + std::chrono::duration_cast<std::chrono::milliseconds>(now_ - start_);
  }

 private:
  static constexpr std::chrono::milliseconds k_wall{1'700'000'000'000};

  AttemptSettings settings(unsigned nodes,
                           unsigned per_node,
                           unsigned gpus,
                           std::chrono::seconds preflight,
                           const run::FailureRecord& record) {
    AttemptSettings settings;
    settings.record = record;
    settings.spec.preflight = preflight;
    settings.run = {"/runs/a"};
    settings.wall = std::chrono::system_clock::time_point(k_wall);
    settings.plan.nodes = nodes;
    settings.plan.ntasks_per_node = per_node;
    settings.plan.gpus_per_node = gpus;
    settings.plan.world_size = world_ = nodes * per_node;
    settings.token = "secret";
    settings.ports = {20001, 20002, 20003};
    settings.environment = {{"DTSUBMIT_ATTEMPT", "1"}};
    settings.agent_node = "n0";
    for (unsigned node = 0; node < nodes; ++node)
      settings.nodes.push_back("n" + std::to_string(node));
    return settings;
  }

  [[nodiscard]] topo::NodeTopology topology() const {
    topo::NodeTopology node;
    for (unsigned core = 0; core < 2 * per_node_; ++core) node.cores.push_back({0, 0, 0, {core}});
    return node;
  }

  JobStory& collect() {
    for (auto& one : attempt_->take_messages()) sent_.push_back(std::move(one));
    for (const Attempt::Peer peer : attempt_->take_refused()) refused_.push_back(peer);
    return *this;
  }

  unsigned per_node_;
  unsigned world_ = 0;
  Time start_, now_;
  AttemptSettings settings_;
  std::unique_ptr<Attempt> attempt_;
  std::vector<std::pair<Attempt::Peer, ToRank>> sent_;
  std::vector<Attempt::Peer> refused_;
};

// The cause of its end, and a part of the sentence that says so.
inline void check_ended(const JobStory& job, run::Cause cause, const std::string& words) {
  REQUIRE(job.over());
  CHECK(std::string(run::to_string(job.outcome().cause)) == run::to_string(cause));
  CAPTURE(job.outcome().detail);
  CHECK(job.says_why(words));
}

}  // namespace dts::launch
