// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/inside.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"
#include "core/drill/reach.hpp"
#include "core/launch/agent/agent.hpp"
#include "core/launch/agent/revive/revive.hpp"
#include "core/launch/agent/staged_nodes.hpp"
#include "core/launch/guard/guard.hpp"
#include "core/launch/health/check_step.hpp"
#include "core/launch/job/allocation.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/launcher/mpiexec.hpp"
#include "core/launch/launcher/node_daemon.hpp"
#include "core/launch/launcher/ssh_launcher.hpp"
#include "core/launch/launcher/step_daemon.hpp"
#include "core/launch/program/stacks.hpp"
#include "core/launch/rank/rank.hpp"
#include "core/probe/measure.hpp"
#include "core/spec/stage.hpp"
#include "core/stage/stage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <map>
#include <string_view>

namespace dts::cli {
namespace {

using GivenOptions = std::map<std::string, std::string>;

Result<GivenOptions> given_options(const std::vector<std::string>& words) {
  GivenOptions options;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) options[words[i]] = words[i + 1];
  if (words.size() % 2 == 0)
    return fail(Errc::usage, "`" + words.front() + "` takes pairs of options and values");
  return options;
}

Result<unsigned> number_of(const std::string& verb,
                           const GivenOptions& options,
                           const std::string& name,
                           unsigned least = 0) {
  const auto option = options.find(name);
  const auto number = option == options.end() ? std::nullopt : parse_number(option->second);
  if (!number || *number < least || *number > 1'000'000)
    return fail(Errc::usage,
                fmt::format("`{}` needs {} K, a number of at least {}", verb, name, least));
  return static_cast<unsigned>(*number);
}

// Parses the command line that `dtsubmit node` passes to each of its ranks.
Result<launch::Identity> identity_of(const GivenOptions& options) {
  launch::Identity identity;
  DTS_ASSIGN(identity.rank, number_of("rank", options, "--rank"));
  DTS_ASSIGN(identity.world_size, number_of("rank", options, "--world-size"));
  DTS_ASSIGN(identity.local_rank, number_of("rank", options, "--local-rank"));
  identity.source = "dtsubmit node";
  return identity;
}

Result<int> write_stacks(const std::map<std::string, std::string>& options) {
  const auto pid = options.find("--pid");
  const auto file = options.find("--file");
  const auto number = pid == options.end() ? std::nullopt : parse_number(pid->second);
  if (!number || *number == 0 || *number > INT_MAX || file == options.end())
    return fail(Errc::usage, "`stacks` needs --pid PID and --file FILE");
  DTS_TRY(launch::write_stacks(
      static_cast<pid_t>(*number), file->second, options.contains("--saving")));
  return 0;
}

// A process list then distinguishes the guard from its agent.
Result<int> become_guard(const std::string& run) {
  const std::string program = program_path();
  ::execl(program.c_str(), "dtsubmit", "guard", "--run", run.c_str(), nullptr);
  return fail_errno("cannot start " + program);
}

// The agent of a whole job has a guard. `--part job|local` makes it the agent of one part;
// --restart here|together and --unwritten FD apply to that part, see launch::PartOptions.
Result<int> run_agent(const std::string& run, const GivenOptions& options) {
  launch::AgentOptions agent{run, false, program_path(), {}, {}};
  const auto part = options.find("--part");
  if (part == options.end())
    return options.contains("--guarded") ? launch::run_agent(agent) : become_guard(run);
  agent.local = part->second == "local";
  const auto restart = options.find("--restart");
  agent.part = {restart != options.end() && restart->second == "together"};
  if (options.contains("--unwritten")) {
    DTS_ASSIGN(const unsigned fd, number_of("agent", options, "--unwritten"));
    agent.part->unwritten_fd = static_cast<int>(fd);
    ::fcntl(agent.part->unwritten_fd, F_SETFD, FD_CLOEXEC);
  }
  if (const auto ranks = options.find("--ranks"); ranks != options.end()) {
    DTS_ASSIGN(agent.shown, run::parse_ranks(ranks->second));
  }
  return launch::run_agent(agent);
}

// Runs a node's set-up; its output goes to the set-up's log.
Result<int> stage_here(const std::string& run, const GivenOptions& options) {
  const auto folder = options.find("--folder");
  if (folder == options.end()) return fail(Errc::usage, "`stage` needs --folder FOLDER");
  DTS_ASSIGN(const spec::JobSpec spec, launch::read_spec({run}));
  stage::StageOrder order;
  order.folder = folder->second;
  for (const std::string& text : spec.stage) {
    DTS_ASSIGN(spec::StageItem item, spec::parse_stage_item(text));
    order.items.push_back(std::move(item));
  }
  DTS_TRY(stage::stage_all(order, [](const std::string& line) { log_line(line); }));
  return 0;
}

Result<int> drill_act(const std::string& run, unsigned attempt, const GivenOptions& options) {
  const auto word = options.find("--act");
  const auto act = word == options.end() ? std::nullopt : drill::act_from(word->second);
  if (!act) return fail(Errc::usage, "`drill-act` needs --act kill|stop|slow|agent|lose|count");
  drill::Target target{{run}, nullptr, {}, attempt, {}, 0};
  DTS_ASSIGN(target.rank, number_of("drill-act", options, "--rank"));
  return drill::run_act(target, *act);
}

Result<int> measure(const std::string& run, unsigned attempt, const GivenOptions& options) {
  DTS_ASSIGN(const unsigned gpus, number_of("measure", options, "--gpus"));
  return launch::run_measure(run, attempt, gpus > 0 ? launch::GpuUse::all : launch::GpuUse::none);
}

Result<int> unstage(const std::string& run, unsigned attempt, const GivenOptions& options) {
  const auto node = options.find("--node");
  DTS_TRY(launch::unstage_this_node({run}, attempt, node == options.end() ? "" : node->second));
  return 0;
}

Result<int> rank(launch::RankOptions rank, const GivenOptions& options) {
  if (const auto node = options.find("--node"); node != options.end()) {
    rank.node = node->second;
    DTS_ASSIGN(rank.identity, identity_of(options));
  }
  return launch::run_rank(rank);
}

bool is_srun_of_hydra(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), launch::k_hydra_srun) != words.end();
}

}  // namespace

bool is_inside_verb(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  const std::string& word = words.front();
  constexpr std::array<std::string_view, 16> k_words{"agent",
                                                     "guard",
                                                     "probe",
                                                     "rank",
                                                     "revive",
                                                     "sentinel",
                                                     "stacks",
                                                     "orted",
                                                     "prted",
                                                     "hydra",
                                                     "ssh",
                                                     "node",
                                                     "drill-act",
                                                     "measure",
                                                     "stage",
                                                     "unstage"};
  return std::find(k_words.begin(), k_words.end(), word) != k_words.end() ||
         (word.starts_with('-') && is_srun_of_hydra(words));
}

Result<int> run_inside_verb(const std::vector<std::string>& words,
                            const std::vector<std::string>& command) {
  const std::string& verb = words.front();
  for (const auto& [name, value] : launch::corrected_job_ids(getenv_lookup))
    ::setenv(name, value.c_str(), 1);
  if (verb == "sentinel") return launch::run_sentinel();
  if (verb == "orted" || verb == "prted") return launch::run_mpi_daemon(words);
  if (verb == "hydra") return launch::run_mpi_daemon({words.begin() + 1, words.end()});
  if (is_srun_of_hydra(words)) return launch::become_srun(words);
  if (verb == "node") return launch::run_node();
  if (verb == "probe") return probe::run_rank(getenv_lookup);
  DTS_ASSIGN(const GivenOptions options, given_options(words));
  if (verb == "stacks") return write_stacks(options);
  const auto run = options.find("--run");
  if (run == options.end()) return fail(Errc::usage, "`" + verb + "` needs --run DIR");
  if (verb == "agent") return run_agent(run->second, options);
  if (verb == "guard") return launch::guard_agent(program_path(), run->second);
  if (verb == "stage") return stage_here(run->second, options);
  DTS_ASSIGN(const unsigned attempt, number_of(verb, options, "--attempt", 1));
  if (verb == "revive") return launch::revive_job(run->second, attempt);
  if (verb == "measure") return measure(run->second, attempt, options);
  if (verb == "unstage") return unstage(run->second, attempt, options);
  if (verb == "ssh") return launch::run_ssh_launcher(run->second, attempt);
  if (verb == "drill-act") return drill_act(run->second, attempt, options);
  if (command.empty()) return fail(Errc::usage, "`rank` needs a command after `--`");
  return rank({run->second, attempt, command, {}, {}}, options);
}

}  // namespace dts::cli
