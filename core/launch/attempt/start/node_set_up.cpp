// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/start/node_set_up.hpp"

#include "core/base/text/text.hpp"
#include "core/run/directory/rank_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace dts::launch {
namespace {

constexpr std::chrono::hours k_set_up_limit{1};    // it may install packages
constexpr std::chrono::seconds k_words_every{30};  // from one line in the ledger to the next

double share_of(const Staging& staging) {
  return staging.total == 0
             ? 1
             : static_cast<double>(staging.done) / static_cast<double>(staging.total);
}

}  // namespace

void NodeSetUp::begin(Time now) {
  if (settings_.set_up.empty() && settings_.tear_down.empty()) return;
  limit_ = now + k_set_up_limit;
  const plan::Environment environment = environment_of_nodes();
  for (const plan::Placement& placement : places_.placements()) {
    if (placement.local_rank != 0) continue;
    ++nodes_;
    ranks_.send(placement.rank,
                SetUp{settings_.set_up,
                      settings_.tear_down,
                      run::set_up_log(settings_.run, settings_.number, placement.node),
                      environment,
                      !settings_.spec.stage.empty()});
  }
}

// With the nodes that have ranks, as the ranks see them: the job's may include spare ones, and ones
// that have failed.
plan::Environment NodeSetUp::environment_of_nodes() const {
  plan::Environment environment = settings_.environment;
  if (!settings_.in_slurm) return environment;
  constexpr std::string_view k_of_nodes[] = {
      "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_NNODES"};
  const auto of_ranks = plan::slurm_step_variables(places_.placements());
  if (of_ranks.empty()) return environment;
  for (const auto& variable : of_ranks.front())  // in these, all ranks agree
    if (is_one_of(k_of_nodes, variable.first)) environment.push_back(variable);
  return environment;
}

void NodeSetUp::on_ended(unsigned rank, SetUpEnded message, Time now) {
  const std::string& node = ranks_.at(rank).node();
  staging_.erase(node);
  if (message.failure.empty()) {
    done_.emplace(node, std::move(message.changes));
    return;
  }
  run::Outcome outcome{
      run::Cause::set_up_failed, 1, fmt::format("set-up on {}: {}", node, message.failure)};
  outcome.node = node;
  ending_.end(std::move(outcome), now);
}

void NodeSetUp::on_staging(unsigned rank, const Staging& message, Time now) {
  limit_ = now + k_set_up_limit;
  staging_[ranks_.at(rank).node()] = message;
  if (now < next_words_) return;
  next_words_ = now + k_words_every;
  tell_staging();
}

// The slowest node decides when programs start.
void NodeSetUp::tell_staging() const {
  const auto slowest =
      std::min_element(staging_.begin(), staging_.end(), [](const auto& a, const auto& b) {
        return share_of(a.second) < share_of(b.second);
      });
  constexpr double k_mib = 1 << 20;
  std::string words = fmt::format(
      "staging: {} of {} nodes are set up; of the others {} is the slowest: {:.0f} % "
      "({:.1f} of {:.1f} MiB)",
      done_.size(),
      nodes_,
      slowest->first,
      100 * share_of(slowest->second),
      static_cast<double>(slowest->second.done) / k_mib,
      static_cast<double>(slowest->second.total) / k_mib);
  news_.notes.push_back(words);
  news_.early.push_back({.what = run::Staging{std::move(words), slowest->first}});
}

void NodeSetUp::on_tick(Time now) {
  if (now < limit_) return;
  run::Outcome outcome{run::Cause::set_up_failed, 1, ""};
  for (const plan::Placement& placement : places_.placements())
    if (placement.local_rank == 0 && done_.count(placement.node) == 0)
      outcome.node = placement.node;
  outcome.detail = fmt::format("set-up on {}: not done after an hour", outcome.node);
  ending_.end(std::move(outcome), now);
}

const EnvironmentChanges& NodeSetUp::changes_of(const std::string& node) const {
  static const EnvironmentChanges k_none;
  const auto found = done_.find(node);
  return found == done_.end() ? k_none : found->second;
}

}  // namespace dts::launch
