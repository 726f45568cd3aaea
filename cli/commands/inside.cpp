// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/inside.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/drill/reach.hpp"
#include "core/launch/agent/agent.hpp"
#include "core/launch/health/check_step.hpp"
#include "core/launch/launcher/node_daemon.hpp"
#include "core/launch/launcher/ssh_launcher.hpp"
#include "core/launch/launcher/step_daemon.hpp"
#include "core/launch/program/stacks.hpp"
#include "core/launch/rank/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <string_view>

namespace dts::cli {
namespace {

using Options = std::map<std::string, std::string>;

Result<Options> options_of(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) options[words[i]] = words[i + 1];
  if (words.size() % 2 == 0)
    return fail(Errc::usage, "`" + words.front() + "` takes pairs of options and values");
  return options;
}

Result<unsigned> number_of(const std::string& verb,
                           const Options& options,
                           const std::string& name,
                           unsigned least = 0) {
  const auto option = options.find(name);
  const auto number = option == options.end() ? std::nullopt : parse_number(option->second);
  if (!number || *number < least || *number > 1'000'000)
    return fail(Errc::usage,
                fmt::format("`{}` needs {} K, a number of at least {}", verb, name, least));
  return static_cast<unsigned>(*number);
}

// The command line that `dtsubmit node` gives to each of its ranks.
Result<launch::Identity> identity_of(const Options& options) {
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
  DTS_TRY(launch::write_stacks(static_cast<pid_t>(*number), file->second));
  return 0;
}

Result<int> drill_act(const std::string& run, unsigned attempt, const Options& options) {
  const auto word = options.find("--act");
  const auto act = word == options.end() ? std::nullopt : drill::act_from(word->second);
  if (!act) return fail(Errc::usage, "`drill-act` needs --act kill|stop|slow|lose|count");
  drill::Target target{{run}, nullptr, {}, attempt, {}, 0};
  DTS_ASSIGN(target.rank, number_of("drill-act", options, "--rank"));
  return drill::run_act(target, *act);
}

}  // namespace

bool is_inside_verb(const std::string& word) {
  constexpr std::array<std::string_view, 10> k_words{"agent",
                                                     "rank",
                                                     "sentinel",
                                                     "stacks",
                                                     "orted",
                                                     "prted",
                                                     "ssh",
                                                     "node",
                                                     "drill-act",
                                                     "measure"};
  return std::find(k_words.begin(), k_words.end(), word) != k_words.end();
}

Result<int> run_inside_verb(const std::vector<std::string>& words,
                            const std::vector<std::string>& command) {
  const std::string& verb = words.front();
  if (verb == "sentinel") return launch::run_sentinel();
  if (verb == "orted" || verb == "prted") return launch::run_mpi_daemon(words);
  if (verb == "node") return launch::run_node();
  DTS_ASSIGN(const Options options, options_of(words));
  if (verb == "stacks") return write_stacks(options);
  const auto run = options.find("--run");
  if (run == options.end()) return fail(Errc::usage, "`" + verb + "` needs --run DIR");
  if (verb == "agent") return launch::run_agent({run->second, false, program_path()});
  DTS_ASSIGN(const unsigned attempt, number_of(verb, options, "--attempt", 1));
  if (verb == "measure") {
    DTS_ASSIGN(const unsigned gpus, number_of(verb, options, "--gpus"));
    return launch::run_measure(
        run->second, attempt, gpus > 0 ? launch::GpuUse::all : launch::GpuUse::none);
  }
  if (verb == "ssh") return launch::run_ssh_launcher(run->second, attempt);
  if (verb == "drill-act") return drill_act(run->second, attempt, options);
  if (command.empty()) return fail(Errc::usage, "`rank` needs a command after `--`");
  launch::RankOptions rank{run->second, attempt, command, {}, {}};
  if (const auto node = options.find("--node"); node != options.end()) {
    rank.node = node->second;
    DTS_ASSIGN(rank.identity, identity_of(options));
  }
  return launch::run_rank(rank);
}

}  // namespace dts::cli
