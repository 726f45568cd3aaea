// SPDX-License-Identifier: Apache-2.0
#include "core/launch/health/slow_nodes.hpp"

#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"

#include <algorithm>
#include <utility>

namespace dts::launch {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds k_turn{15};

bool is_slow(const Result<std::vector<run::UnfitNode>>& unable) {
  return !unable && unable.error().code == Errc::timed_out;
}

// Otherwise the end of a rank that the launcher killed counts as a crash of the program.
run::Outcome of_slow_launch(run::Outcome outcome) {
  outcome.cause = run::Cause::launch_failed;
  outcome.rank.reset();
  outcome.node.clear();
  outcome.detail =
      "nodes were slow to start their first process, as while they run the site's Prolog "
      "(PrologFlags=Alloc has it end before a job starts); " +
      outcome.detail;
  return outcome;
}

}  // namespace

bool says_nodes_are_slow(const std::string& errors) {
  const auto lines = split(errors, '\n');
  return std::ranges::any_of(lines, [](const std::string& line) {
    return line.find("Task launch for ") < line.find(" failed on node ") &&
           line.find("timed out") != std::string::npos;
  });
}

run::Outcome ask_nodes(run::Outcome outcome, const NodeDoubt& doubt, const SlowNodes& slow) {
  const auto until = SteadyClock::now() + slow.longest;
  auto unable = unable_nodes(doubt, k_turn);
  const bool are_slow = slow.has_given_up || is_slow(unable);
  if (is_slow(unable))
    log("nodes start no process yet, as while they run the site's Prolog: waiting up to {} s",
        slow.longest.count());
  while (is_slow(unable) && SteadyClock::now() < until && slow.waits())
    unable = unable_nodes(doubt, k_turn);
  if (!unable) log("cannot find out which nodes cannot run a rank: {}", unable.error().message);
  if (unable && !unable->empty())
    return without_unable(std::move(outcome), *std::move(unable), doubt.nodes.size());
  return are_slow ? of_slow_launch(std::move(outcome)) : outcome;
}

}  // namespace dts::launch
