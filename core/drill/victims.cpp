// SPDX-License-Identifier: Apache-2.0
#include "core/drill/victims.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/interruption.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/names.hpp"
#include "core/base/text/text.hpp"
#include "core/run/directory/lease.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <thread>
#include <utility>

namespace dts::drill {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr Names<Act, 6> k_acts{{{Act::kill, "kill"},
                                {Act::stop, "stop"},
                                {Act::slow, "slow"},
                                {Act::agent, "agent"},
                                {Act::lose, "lose"},
                                {Act::count, "count"}}};

// The environments of the attempt's processes, by pid.
std::map<pid_t, std::string> blocks_of(const run::RunDirectory& run, unsigned attempt) {
  const char* node = std::getenv("SLURMD_NODENAME");
  std::map<pid_t, std::string> blocks;
  for (const auto& [pid, process] : living_processes()) {
    std::string block = environment_of(pid);
    const bool ours = has_entry(block, "DTSUBMIT_RUN_DIR=" + run.path) &&
                      has_entry(block, fmt::format("DTSUBMIT_ATTEMPT={}", attempt));
    if (!ours || pid == ::getpid()) continue;
    if (node != nullptr && !has_entry(block, std::string("SLURMD_NODENAME=") + node)) continue;
    blocks.emplace(pid, std::move(block));
  }
  return blocks;
}

bool is_rank_process(pid_t pid) {
  const std::vector<std::string> words = command_of(pid);
  return words.size() > 1 && words[1] == "rank" &&
         words[0].substr(words[0].rfind('/') + 1) == "dtsubmit";
}

unsigned kill_agent(const run::RunDirectory& run, unsigned attempt) {
  const auto lease = run::read_lease(run, attempt);
  const bool is_here = lease && run::holder_of(*lease) == run::Holder::alive;
  return is_here && ::kill(lease->pid, SIGKILL) == 0 ? 1 : 0;
}

Result<void> keep_slow(pid_t program) {
  const auto until = Clock::now() + k_slow;
  Result<void> going;
  while (Clock::now() < until && going && ::kill(program, SIGSTOP) == 0) {
    std::this_thread::sleep_for(milliseconds(800));
    ::kill(program, SIGCONT);
    std::this_thread::sleep_for(milliseconds(200));
    going = check_interruption();
  }
  return going;
}

}  // namespace

const char* to_string(Act act) {
  return name_of(k_acts, act);
}

std::optional<Act> act_from(std::string_view word) {
  return value_of(k_acts, word);
}

std::vector<pid_t> processes_of(const run::RunDirectory& run, unsigned attempt) {
  std::vector<pid_t> pids;
  for (const auto& [pid, block] : blocks_of(run, attempt)) pids.push_back(pid);
  return pids;
}

std::optional<pid_t> program_of(const run::RunDirectory& run, unsigned attempt, unsigned rank) {
  for (const auto& [pid, block] : blocks_of(run, attempt)) {
    // torchrun, the program of a whole node, has no RANK of its own.
    const bool meant =
        has_entry(block, fmt::format("RANK={}", rank)) ||
        (!has_entry(block, "RANK=") && has_entry(block, fmt::format("PET_NODE_RANK={}", rank)));
    const auto process = meant ? process_info(pid) : std::nullopt;
    if (process && is_rank_process(process->parent)) return pid;
  }
  return std::nullopt;
}

Result<unsigned> act_on_this_node(Act act,
                                  const run::RunDirectory& run,
                                  unsigned attempt,
                                  unsigned rank) {
  if (act == Act::lose || act == Act::count) {
    const std::vector<pid_t> all = processes_of(run, attempt);
    if (act == Act::lose)
      for (const pid_t pid : all) ::kill(pid, SIGKILL);
    return static_cast<unsigned>(all.size());
  }
  if (act == Act::agent) return kill_agent(run, attempt);
  const auto program = program_of(run, attempt, rank);
  if (!program) return 0U;
  if (act == Act::slow) {
    DTS_TRY(keep_slow(*program));
    return 1U;
  }
  if (::kill(*program, act == Act::kill ? SIGKILL : SIGSTOP) != 0)
    return fail_errno(fmt::format("cannot signal process {} of rank {}", *program, rank));
  return 1U;
}

}  // namespace dts::drill
