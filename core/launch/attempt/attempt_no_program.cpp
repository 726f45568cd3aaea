// SPDX-License-Identifier: Apache-2.0
// Ranks that cannot start their program. On every node it is the user's mistake, and trying again
// would show it again; on some it is these nodes', where a share is not mounted or a file is old.
#include "core/launch/attempt/attempt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_others{5};  // to say whether theirs has started

}  // namespace

void Attempt::on_no_program(unsigned rank, const Failed& message, Time now) {
  if (phase_ != Phase::starting) return;
  ranks_.at(rank).no_program = message;
  no_program_until_ = std::min(no_program_until_, now + k_others);
  judge_no_program(now);
}

void Attempt::judge_no_program(Time now) {
  const bool all_said = std::all_of(ranks_.begin(), ranks_.end(), [](const auto& one) {
    return one.second.started || one.second.no_program || one.second.exit_code;
  });
  if (all_said) end_no_program(now);
}

void Attempt::end_no_program(Time now) {
  std::map<std::string, unsigned> without;  // the first such rank, by node
  std::set<std::string> with;
  for (const auto& [rank, state] : ranks_) {
    if (state.no_program) without.emplace(state.hello.rank.node, rank);
    if (state.started) with.insert(state.hello.rank.node);
  }
  const unsigned first = without.begin()->second;
  const Failed& words = *ranks_.at(first).no_program;
  const bool is_of_nodes = !with.empty() && std::none_of(with.begin(), with.end(), [&](auto& node) {
    return without.count(node) > 0;
  });
  if (!is_of_nodes)
    return end(run::Cause::no_program,
               words.program,
               fmt::format("{}: {}", where(first), words.message),
               now,
               first);
  end_without_nodes(without, now);
}

// The next attempt does without them.
void Attempt::end_without_nodes(const std::map<std::string, unsigned>& ranks, Time now) {
  run::Outcome outcome{run::Cause::launch_failed, 1, ""};
  for (const auto& [node, rank] : ranks)
    outcome.unfit.push_back({node, ranks_.at(rank).no_program->message});
  const run::UnfitNode& one = outcome.unfit.front();
  outcome.node = one.node;
  outcome.detail = fmt::format("{}: {}", one.node, one.why);
  if (ranks.size() > 1) outcome.detail += fmt::format("; {} nodes more", ranks.size() - 1);
  outcome.detail += "; the program has started on the other nodes";
  failure_ = std::move(outcome);
  kill_all(now);
}

}  // namespace dts::launch
