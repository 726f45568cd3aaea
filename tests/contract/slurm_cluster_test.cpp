// SPDX-License-Identifier: Apache-2.0
// What the plug-in reports about the cluster, compared with Slurm's own commands.
#include "tests/contract/slurm_cluster.hpp"

#include "core/base/text/text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <ctime>

using namespace contract;

TEST_CASE("nodes are those of sinfo, with their GPUs and addresses") {
  const auto nodes = scheduler().nodes();
  REQUIRE(nodes.has_value());
  const auto lines =
      dts::split(dts::trim(command({"sinfo", "-hN", "-p", "low", "-o", "%N %c %m %o"}).out), '\n');
  REQUIRE(nodes->size() == lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& node = (*nodes)[i];
    CHECK(lines[i] == node.name + " " + std::to_string(node.cpus) + " " +
                          std::to_string(node.memory_mib) + " " + node.address);
    CHECK(node.gpus == 8);
    CHECK_FALSE(node.state.empty());
  }
}

TEST_CASE("partitions have their limits, grace time and preemption mode") {
  const auto partitions = scheduler().partitions();
  REQUIRE(partitions.has_value());
  bool default_seen = false;
  for (const auto& partition : *partitions) {
    CHECK(partition.up);
    CHECK_FALSE(partition.nodes.empty());
    CHECK((partition.max_time_seconds == -1 || partition.max_time_seconds > 0));
    default_seen = default_seen || partition.is_default;
    if (partition.name == "low") {
      CHECK(partition.preemption == dts::sched::Preemption::requeue);
      CHECK(partition.grace_seconds == 20);
    }
    if (partition.name == "high") CHECK(partition.preemption == dts::sched::Preemption::none);
  }
  CHECK(default_seen);
}

TEST_CASE("settings are those of scontrol; QOS are not known without accounting, and it says so") {
  const auto settings = scheduler().settings();
  REQUIRE(settings.has_value());
  const auto config = scheduler().config();
  REQUIRE(config.has_value());
  CHECK(settings->at("ClusterName") == config->cluster_name);
  const auto qos = scheduler().qos("");
  REQUIRE_FALSE(qos.has_value());
  CHECK_FALSE(qos.error().message.empty());
}

TEST_CASE("the configuration is scontrol's") {
  const auto config = scheduler().config();
  REQUIRE(config.has_value());
  const std::string shown = command({"scontrol", "show", "config"}).out;
  const auto shows = [&](const std::string& key, const std::string& value) {
    for (const std::string& line : dts::split(shown, '\n')) {
      const auto parts = dts::split(line, '=');
      if (parts.size() == 2 && dts::trim(parts[0]) == key)
        return dts::trim(parts[1]).substr(0, value.size()) == value;
    }
    return false;
  };
  CHECK(shows("SLURM_VERSION", config->version));
  CHECK(shows("ClusterName", config->cluster_name));
  CHECK(config->signals_reach_programs != shows("ProctrackType", "proctrack/cgroup"));
  CHECK(shows("KillWait", std::to_string(config->kill_wait_seconds) + " sec"));
  std::array<char, 32> started{};  // as scontrol(1) writes a time
  const std::time_t boot_time = config->boot_time;
  std::strftime(started.data(), started.size(), "%Y-%m-%dT%H:%M:%S", std::localtime(&boot_time));
  CHECK(shows("BOOT_TIME", started.data()));
}
