// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/start/program_start.hpp"

#include "core/base/text/counted.hpp"
#include "core/plan/layout/launcher_words.hpp"
#include "core/run/directory/parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_others{5};  // for the other ranks to report their program's start

// Go::hang_seconds for the limit that the user has set.
int hang_seconds(const std::optional<std::chrono::seconds>& limit) {
  if (!limit) return 0;
  return *limit == std::chrono::seconds::max() ? -1 : static_cast<int>(limit->count());
}

}  // namespace

void ProgramStart::begin(const plan::Rendezvous& rendezvous,
                         std::uint64_t checkpoint_every,
                         Time now) {
  limit_ = now + settings_.spec.start_timeout;
  ending_.begin_programs();
  std::vector<plan::Environment> environments =
      plan::rank_environments(places_.placements(), rendezvous, settings_.plan);
  std::vector<plan::Environment> places;
  if (settings_.in_slurm) places = plan::slurm_step_variables(places_.placements());
  const plan::OwnLauncher launcher = plan::find_own_launcher(settings_.plan.command);
  for (const plan::Placement& placement : places_.placements()) {
    Go go = orders_for(placement);
    go.command = plan::command_of_rank(settings_.plan, launcher, placement, rendezvous);
    go.checkpoint_every = checkpoint_every;
    go.environment = std::move(environments.at(placement.rank));
    go.environment.insert(
        go.environment.end(), settings_.environment.begin(), settings_.environment.end());
    for (auto& variable : plan::tracker_variables(
             run::full_name(settings_.run), settings_.plan.job_name, placement.rank))
      go.environment.push_back(std::move(variable));
    if (settings_.in_slurm)
      for (auto& variable : places.at(placement.rank))
        go.environment.push_back(std::move(variable));
    ranks_.send(placement.rank, std::move(go));
  }
}

Go ProgramStart::orders_for(const plan::Placement& placement) const {
  Go go;
  go.binding = places_.planned_binding(placement.rank);
  go.strict_binding = settings_.spec.strict_binding;
  go.log = settings_.run.rank_log(settings_.number, placement.rank);
  go.stop_signal = settings_.spec.stop_signal;
  go.signals_reach_programs = signals_reach_programs_;
  go.log_timestamps = settings_.spec.log_timestamps;
  go.set_up = set_up_.changes_of(placement.node);
  go.limits = settings_.spec.ulimits;
  go.umask = settings_.spec.umask;
  go.hang_seconds = hang_seconds(settings_.spec.hang_timeout);
  go.container = settings_.spec.container;
  if (settings_.plan.bind_threads == "auto") go.thread_cpus = placement.first_cpus;
  return go;
}

void ProgramStart::on_started(unsigned rank, Time now) {
  ranks_.at(rank).heard = now;
  started_.insert(rank);
  if (!no_program_.empty()) judge_no_program(now);
}

void ProgramStart::on_no_program(unsigned rank, const Failed& message, Time now) {
  no_program_[rank] = message;
  no_program_until_ = std::min(no_program_until_, now + k_others);
  judge_no_program(now);
}

void ProgramStart::judge_no_program(Time now) {
  const bool all_said = std::all_of(ranks_.begin(), ranks_.end(), [&](const auto& one) {
    return started_.count(one.first) > 0 || no_program_.count(one.first) > 0 ||
           one.second.exit_code;
  });
  if (all_said) end_no_program(now);
}

void ProgramStart::end_no_program(Time now) {
  std::map<std::string, unsigned> without;  // by node, its first rank without a program
  for (const auto& [rank, message] : no_program_) without.emplace(ranks_.at(rank).node(), rank);
  const bool is_of_nodes =
      !started_.empty() && std::none_of(started_.begin(), started_.end(), [&](unsigned rank) {
        return without.count(ranks_.at(rank).node()) > 0;
      });
  if (is_of_nodes) return end_without_nodes(without, now);
  const unsigned first = without.begin()->second;
  const Failed& words = no_program_.at(first);
  ending_.end({run::Cause::no_program,
               words.program,
               fmt::format("{}: {}", ranks_.where(first), words.message),
               first},
              now);
}

// The next attempt avoids these nodes.
void ProgramStart::end_without_nodes(const std::map<std::string, unsigned>& ranks, Time now) {
  run::Outcome outcome{run::Cause::launch_failed, 1, ""};
  for (const auto& [node, rank] : ranks)
    outcome.unfit.push_back({node, no_program_.at(rank).message});
  const run::UnfitNode& one = outcome.unfit.front();
  outcome.node = one.node;
  outcome.detail = fmt::format("{}: {}", one.node, one.why);
  if (ranks.size() > 1)
    outcome.detail += fmt::format("; {} more", counted(ranks.size() - 1, "node"));
  outcome.detail += "; the program has started on the other nodes";
  ending_.override_end(std::move(outcome), now);
}

void ProgramStart::on_tick(Time now) {
  if (now >= no_program_until_) return end_no_program(now);
  if (now < limit_) return;
  ending_.end({run::Cause::launch_failed, 1, "not every rank started its program in time"}, now);
}

}  // namespace dts::launch
