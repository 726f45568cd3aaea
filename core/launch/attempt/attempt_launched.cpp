// SPDX-License-Identifier: Apache-2.0
// Launchers that the program has started itself, see second_launcher.hpp.
#include "core/base/text/text.hpp"
#include "core/launch/attempt/attempt.hpp"
#include "core/launch/attempt/exit_code.hpp"

#include <fmt/format.h>

namespace dts::launch {
namespace {

// An elastic launcher gives its processes other ranks when a node comes or goes, and not all ranks
// of ours see that at the same moment.
constexpr std::chrono::seconds k_sure{3};

// What to write instead. With one task on each node the program's RANK is the node's.
std::string remedy(const plan::Plan& plan, const std::string& launcher) {
  std::vector<std::string> words;
  if (plan.ntasks_per_node > 1)
    words.push_back(plan.hosts.empty()
                        ? "write --ntasks-per-node 1, and each node starts one"
                        : "name each host once in --hosts, and each node starts one");
  if (plan.nodes > 1) {
    std::string others = "each has to know of the other nodes";
    if (launcher == "torchrun")
      others +=
          ": name torchrun itself after `--`, or give it --nnodes $WORLD_SIZE --node_rank $RANK "
          "--master_addr $MASTER_ADDR --master_port $MASTER_PORT";
    words.push_back(std::move(others));
  }
  words.push_back("or name the program that it starts: RANK and WORLD_SIZE are set for it");
  return join(words, "; ");
}

}  // namespace

void Attempt::on(unsigned rank, const Launched& message, Time now) {
  launchers_.see(rank, ranks_.at(rank).hello.rank.node, message);
  if (!launchers_.are_ranks_twice())
    twice_at_ = Time::max();
  else if (twice_at_ == Time::max())
    twice_at_ = now + k_sure;
  if (failure_ && failure_->rank) judge_failed_launcher(*failure_->rank, now);
}

void Attempt::end_ranks_twice(const RanksTwice& twice, Time now) {
  if (stop_cause_ || phase_ == Phase::ending) return;
  failure_.reset();  // one of the two failed because of the other
  end(run::Cause::second_launcher,
      k_wrong,
      fmt::format("{}: {}; it is `{}`",
                  describe(twice),
                  remedy(settings_.plan, twice.launcher),
                  twice.command),
      now);
}

void Attempt::judge_ranks_twice(Time now) {
  if (const auto twice = launchers_.ranks_twice()) end_ranks_twice(*twice, now);
}

void Attempt::judge_failed_launcher(unsigned rank, Time now) {
  if (const auto twice = launchers_.ranks_beside(rank)) end_ranks_twice(*twice, now);
}

}  // namespace dts::launch
