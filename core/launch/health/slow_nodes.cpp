// SPDX-License-Identifier: Apache-2.0
#include "core/launch/health/slow_nodes.hpp"

#include "core/base/os/detached_call.hpp"
#include "core/base/os/log.hpp"

#include <fmt/format.h>

#include <utility>

namespace dts::launch {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Unable = Result<std::vector<run::UnfitNode>>;

constexpr std::chrono::seconds k_ask_limit{15};
constexpr std::chrono::milliseconds k_poll{50};  // for the answer, and for signals
constexpr std::chrono::milliseconds k_between{1000};

// Not if srun had to be killed: it may have waited for the controller, or for a file server.
bool has_said_slow(const Unable& unable) {
  return !unable && unable.error().code == Errc::unreachable;
}

bool has_no_answer(const Unable& unable) {
  return has_said_slow(unable) || (!unable && unable.error().code == Errc::timed_out);
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

NodeQuestion question_of(NodeDoubt doubt, Wait waits) {
  return [doubt = std::move(doubt), waits = std::move(waits)]() -> Unable {
    DetachedCall<Unable> call;
    call.start([doubt] { return unable_nodes(doubt, k_ask_limit); });
    for (;;) {
      if (auto answer = call.take()) return *std::move(answer);
      if (!waits(k_poll)) return fail(Errc::interrupted, "the job is asked to end");
    }
  };
}

run::Outcome ask_nodes(run::Outcome outcome,
                       std::size_t nodes,
                       const NodeQuestion& ask,
                       const SlowNodes& slow) {
  const auto until = SteadyClock::now() + slow.longest;
  Unable unable = ask();
  const bool are_slow = slow.has_given_up || has_said_slow(unable);
  if (are_slow && has_no_answer(unable))
    slow.tell(
        fmt::format("nodes start no process yet, as while they run the site's Prolog: waiting up "
                    "to {} s (--start-timeout)",
                    slow.longest.count()));
  while (are_slow && has_no_answer(unable) && SteadyClock::now() < until && slow.waits(k_between))
    unable = ask();
  if (!unable) log("cannot find out which nodes cannot run a rank: {}", unable.error().message);
  if (unable && !unable->empty())
    return without_unable(std::move(outcome), *std::move(unable), nodes);
  return are_slow ? of_slow_launch(std::move(outcome)) : outcome;
}

}  // namespace dts::launch
