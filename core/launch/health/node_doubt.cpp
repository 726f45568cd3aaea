// SPDX-License-Identifier: Apache-2.0
#include "core/launch/health/node_doubt.hpp"

#include "core/base/os/process.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/launcher/own_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace dts::launch {
namespace {

// $0 is dtsubmit, $1 the file, which was made on another node moments ago, $2 for how many seconds
// to wait for it: ranks wait for it, too.
// Launchers keep files of their own where TMPDIR says.
constexpr const char* k_script = R"sh(own="" place="${TMPDIR:-/tmp}" turn=0
until test -r "$1" || test $turn -ge "$2"; do turn=$((turn + 1)); sleep 1; done
if ! "$0" --version >/dev/null 2>&1; then echo "$SLURMD_NODENAME cannot run $0"
elif ! test -r "$1"; then echo "$SLURMD_NODENAME cannot read $1"
elif ! own="$(mktemp -d "$place/dtsubmit.XXXXXX" 2>/dev/null)" ||
    ! head -c 4096 /dev/zero 2>/dev/null >"$own/room"; then
  echo "$SLURMD_NODENAME cannot write to $place"
fi
test -z "$own" || rm -rf -- "$own")sh";

constexpr std::string_view k_refuses = "starts no task: ";

struct FailedTask {
  std::string node;
  std::string why;
};

// "srun: error: Task launch for StepId=7.1 failed on node n1: Job credential expired", one per line
std::vector<FailedTask> failed_tasks(const std::string& errors) {
  constexpr std::string_view k_launch = "Task launch for ";
  constexpr std::string_view k_failed = " failed on node ";
  std::vector<FailedTask> failed;
  for (const std::string& line : split(errors, '\n')) {
    const std::size_t begin = line.find(k_failed);
    if (begin == std::string::npos || line.find(k_launch) > begin) continue;
    const std::string rest = line.substr(begin + k_failed.size());
    const std::size_t colon = rest.find(": ");
    if (colon != std::string::npos)
      failed.push_back({rest.substr(0, colon), rest.substr(colon + 2)});
  }
  return failed;
}

bool is_late(const FailedTask& task) {
  return task.why.find("timed out") != std::string::npos;
}

void sort_as(const std::vector<std::string>& nodes, std::vector<run::UnfitNode>& unable) {
  const auto place = [&](const run::UnfitNode& one) {
    return std::find(nodes.begin(), nodes.end(), one.node);
  };
  std::stable_sort(unable.begin(), unable.end(), [&](const auto& a, const auto& b) {
    return place(a) < place(b);
  });
}

}  // namespace

std::vector<run::UnfitNode> parse_unable(const std::string& output,
                                         const std::vector<std::string>& nodes) {
  std::vector<run::UnfitNode> unable;
  for (const std::string& line : split(output, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    const std::string node = line.substr(0, blank);
    if (std::find(nodes.begin(), nodes.end(), node) != nodes.end())
      unable.push_back({node, line.substr(blank + 1)});
  }
  sort_as(nodes, unable);
  return unable;
}

std::vector<run::UnfitNode> parse_refusals(const std::string& errors,
                                           const std::vector<std::string>& nodes) {
  std::vector<run::UnfitNode> refused;
  for (const FailedTask& task : failed_tasks(errors))
    if (!is_late(task) && is_one_of(nodes, task.node))
      refused.push_back({task.node, std::string(k_refuses) + task.why});
  sort_as(nodes, refused);
  return refused;
}

bool says_nodes_are_slow(const std::string& errors) {
  return std::ranges::any_of(failed_tasks(errors), is_late);
}

Result<std::vector<run::UnfitNode>> unable_nodes(const NodeDoubt& doubt,
                                                 std::chrono::milliseconds limit) {
  Command command;
  command.argv = check_command(
      doubt.nodes,
      GpuUse::none,
      {"/bin/sh", "-c", k_script, doubt.dtsubmit, doubt.file, std::to_string(doubt.lag.count())},
      doubt.component);
  // srun reads the job's own --gpus-per-node from this variable and rejects it together with
  // --gres=none.
  command.env = environment_with({{"SLURM_GPUS_PER_NODE", ""}});
  DTS_ASSIGN(const Output output, run_process(std::move(command), limit));
  if (auto unable = parse_unable(output.out, doubt.nodes); !unable.empty()) return unable;
  auto refused = parse_refusals(output.err, doubt.nodes);
  if (refused.empty() && says_nodes_are_slow(output.err))
    return fail(Errc::unreachable, "nodes did not answer srun in time");
  return refused;
}

run::Outcome without_unable(run::Outcome outcome,
                            std::vector<run::UnfitNode> unable,
                            std::size_t nodes) {
  if (unable.empty()) return outcome;
  outcome.cause = run::Cause::launch_failed;
  outcome.rank.reset();
  outcome.node.clear();
  const run::UnfitNode& first = unable.front();
  std::string words = fmt::format("{} {}", first.node, first.why);
  if (unable.size() > 1)
    words +=
        fmt::format(", and {} cannot run ranks, either", counted(unable.size() - 1, "more node"));
  const bool refuses = first.why.starts_with(k_refuses);
  const char* hint = refuses ? "the log of its slurmd says more"
                             : "is its file system mounted there, and has it room?";
  outcome.detail = fmt::format("{} ({}); {}", words, hint, outcome.detail);
  if (unable.size() >= nodes) return outcome;
  outcome.node = first.node;
  // A slurmd that is only being restarted starts tasks again soon: that is one strike.
  if (!refuses) outcome.unfit = std::move(unable);
  return outcome;
}

}  // namespace dts::launch
