// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/watch/second_launcher_watch.hpp"

#include "core/base/text/text.hpp"
#include "core/launch/attempt/state/exit_code.hpp"

#include <fmt/format.h>

namespace dts::launch {
namespace {

// An elastic launcher renumbers its processes when a node joins or leaves, and not all of our ranks
// see that at the same moment.
constexpr std::chrono::seconds k_sure{3};
// How much longer to wait for the other processes of that world, so that the message names all.
constexpr std::chrono::seconds k_late{7};

// What the user should write instead. With one task per node, the program's RANK is the node's
// number.
std::string remedy(const plan::Plan& plan, const std::string& launcher) {
  std::vector<std::string> words;
  if (plan.ntasks_per_node > 1)
    words.push_back(plan.hosts.empty()
                        ? "write --ntasks-per-node 1, and each node starts one"
                        : "name each host once in --hosts, and each node starts one");
  if (plan.nodes > 1) {
    std::string others = "each must know about the other nodes";
    if (launcher == "torchrun")
      others +=
          ": name torchrun itself after `--`, or give it --nnodes $WORLD_SIZE --node_rank $RANK "
          "--master_addr $MASTER_ADDR --master_port $MASTER_PORT";
    words.push_back(std::move(others));
  }
  const std::string program = "name the program that it starts: RANK and WORLD_SIZE are set for it";
  words.push_back((words.empty() ? "" : "or ") + program);
  return join(words, "; ");
}

}  // namespace

void SecondLauncherWatch::on_launched(unsigned rank, const Launched& message, Time now) {
  launchers_.observe(rank, ranks_.at(rank).node(), message);
  if (!launchers_.are_ranks_twice())
    twice_at_ = Time::max();
  else if (twice_at_ == Time::max())
    twice_at_ = now + k_sure;
  const auto& failure = ending_.failure();
  if (failure && failure->rank) judge_failed(*failure->rank, now);
}

void SecondLauncherWatch::on_exited(unsigned rank, int code, Time now) {
  if (launchers_.are_ranks_twice()) judge(now);
  if (code == 0) launchers_.forget(rank);  // a later process may get its ranks
}

void SecondLauncherWatch::on_tick(Time now) {
  if (now < twice_at_) return;
  const auto twice = launchers_.ranks_twice();
  if (!twice || (twice->ranks.size() < twice->world_size && now - twice_at_ < k_late)) return;
  end(*twice, now);
}

void SecondLauncherWatch::judge(Time now) {
  if (const auto twice = launchers_.ranks_twice()) end(*twice, now);
}

void SecondLauncherWatch::judge_failed(unsigned rank, Time now) {
  if (const auto twice = launchers_.ranks_beside(rank)) end(*twice, now);
}

void SecondLauncherWatch::end(const RanksTwice& twice, Time now) {
  if (ending_.asked_stop() || ending_.begun()) return;
  ending_.withdraw();  // one failure may have caused the other
  ending_.end(
      {run::Cause::second_launcher,
       k_wrong,
       fmt::format(
           "{}: {}; it is `{}`", describe(twice), remedy(plan_, twice.launcher), twice.command)},
      now);
}

}  // namespace dts::launch
