// SPDX-License-Identifier: Apache-2.0
#include "core/drill/reach.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/interruption.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/successor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dts::drill {
namespace {

constexpr std::chrono::seconds k_step_limit{60};  // in addition to the time of the act itself

std::vector<std::string> step_command(const Target& target,
                                      const std::vector<std::string>& nodes,
                                      Act act) {
  // srun takes the id and the component of a heterogeneous job separately: "4711+1".
  const std::string job = target.job.text();
  const std::size_t plus = std::min(job.find('+'), job.size());
  std::vector<std::string> step{"srun", "--jobid=" + job.substr(0, plus)};
  if (plus < job.size()) step.push_back("--het-group=" + job.substr(plus + 1));
  const std::vector<std::string> options{"--overlap",
                                         fmt::format("--nodes={}", nodes.size()),
                                         fmt::format("--ntasks={}", nodes.size()),
                                         "--ntasks-per-node=1",
                                         fmt::format("--nodelist={}", fmt::join(nodes, ",")),
                                         "--cpus-per-task=1",
                                         "--mem=0",
                                         "--gres=none",
                                         "--mpi=none",
                                         "--quiet",
                                         program_path(),
                                         "drill-act",
                                         "--act",
                                         to_string(act),
                                         "--run",
                                         target.run.path,
                                         "--attempt",
                                         std::to_string(target.attempt),
                                         "--rank",
                                         std::to_string(target.rank)};
  step.insert(step.end(), options.begin(), options.end());
  return step;
}

}  // namespace

Result<unsigned> act_on(const Target& target, const std::vector<std::string>& nodes, Act act) {
  if (target.scheduler == nullptr)
    return act_on_this_node(act, target.run, target.attempt, target.rank);
  Command step;
  step.argv = step_command(target, nodes, act);
  step.env = launch::scrubbed_environment();
  const auto limit = k_step_limit + (act == Act::slow ? k_slow : std::chrono::seconds(0));
  DTS_ASSIGN(const Output output, run_process(std::move(step), limit));
  if (output.exit_code != 0)
    return fail(
        Errc::rejected,
        fmt::format(
            "an additional step of job {} failed: {}", target.job, trim(output.err + output.out)),
        "the drill reaches the nodes by `srun --overlap`");
  std::uint64_t sum = 0;
  for (const std::string& line : split(output.out, '\n')) sum += parse_number(line).value_or(0);
  return static_cast<unsigned>(sum);
}

Result<int> run_act(const Target& target, Act act) {
  remember_signals();
  DTS_ASSIGN(const unsigned number, act_on_this_node(act, target.run, target.attempt, target.rank));
  fmt::print("{}\n", number);
  return 0;
}

}  // namespace dts::drill
