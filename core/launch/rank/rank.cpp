// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/rank.hpp"

#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/signals.hpp"
#include "core/launch/health/measure_node.hpp"
#include "core/launch/job/successor.hpp"
#include "core/launch/launcher/launcher.hpp"
#include "core/launch/rank/rank_hello.hpp"
#include "core/launch/rank/rank_process.hpp"
#include "core/launch/wire/channel.hpp"
#include "core/launch/wire/node_name.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/topo/discover.hpp"
#include "core/topo/json.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <optional>

namespace dts::launch {
namespace {

constexpr std::chrono::milliseconds k_connect_limit{2000};

// Reports `why` to the agent. The launcher ends the other ranks when this one fails, and the agent
// must learn the reason before that.
tl::unexpected<Error> refuse(const ChannelFile& channel, const Error& why, bool of_node) {
  const std::string node = node_name(getenv_lookup, host_name());
  if (const auto told = tell_agent(channel, Refused{channel.token, node, why.message, of_node});
      !told)
    log("{}", told.error().message);
  return tl::unexpected<Error>(why);
}

}  // namespace

Result<int> run_rank(const RankOptions& options) {
  // This variable was set for the launcher, and is not meant for the program.
  if (getenv_lookup(k_launcher_hwloc.first) == k_launcher_hwloc.second)
    ::unsetenv(k_launcher_hwloc.first);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  DTS_ASSIGN(UniqueFd signals,
             take_signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD}));
  DTS_ASSIGN(const ChannelFile channel,
             read_channel(options.run_directory, options.attempt, k_channel_lag));
  std::string trouble = enter_folder(channel.folder);
  const auto identity =
      options.identity ? Result<Identity>(*options.identity) : identify(getenv_lookup);
  if (!identity) return refuse(channel, identity.error(), false);
  DetachedCall<NodeFacts> measurement;  // starts first, to have all the time until the start
  if (channel.preflight && identity->local_rank == 0)
    measurement.start([folder = run::RunDirectory{options.run_directory}.attempt(options.attempt),
                       gpus = channel.check_gpus ? GpuUse::all : GpuUse::none] {
      return measure_node(folder, gpus);
    });
  Hello hello = make_hello(channel, *identity, options.node);
  std::optional<Topology> topology;
  if (hello.topology) {
    const auto found = topo::discover();
    if (!found) return refuse(channel, found.error(), true);
    topology = Topology{topo::to_json(*found)};
  }
  HeldPort worker = hold_worker_port(options.run_directory, options.attempt, hello.rank.rank);
  hello.worker_port = worker.port;
  hello.folder_trouble = std::move(trouble);
  // Connects last, so that no connection is silent for long: when the agent has too many
  // connections, it drops those that have not said hello.
  DTS_ASSIGN(UniqueFd socket, connect_to_any(channel.addresses, channel.port, k_connect_limit));
  RankSegments segments(fmt::format(
      "{} {} {} {}", options.run_directory, options.attempt, hello.rank.node, channel.token));
  RankProcess process(options.command,
                      std::move(socket),
                      std::move(signals),
                      std::move(worker),
                      std::move(segments),
                      {options.run_directory,
                       options.attempt,
                       hello.rank.node,
                       hello.rank.rank,
                       hello.rank.local_rank},
                      std::move(measurement));
  process.say(hello);
  if (topology) process.say(*topology);
  return process.run();
}

}  // namespace dts::launch
