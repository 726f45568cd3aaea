// SPDX-License-Identifier: Apache-2.0
// Without a controller, every call ends in "unreachable" within a bounded time.
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "tests/contract/slurm_cluster.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <future>

using namespace contract;
using dts::Errc;

namespace {

// Ends the controller of $SLURM_CONF by the process id in its own file.
void end_controller() {
  std::string path;
  for (const std::string& line : dts::split(command({"scontrol", "show", "config"}).out, '\n'))
    if (line.compare(0, 16, "SlurmctldPidFile") == 0) path = dts::trim(dts::split(line, '=').at(1));
  const auto text = dts::read_file(path);
  REQUIRE(text.has_value());
  const auto pid = dts::parse_number(dts::trim(*text));
  REQUIRE(pid.has_value());
  REQUIRE(kill(static_cast<pid_t>(*pid), SIGTERM) == 0);
  REQUIRE(eventually([&] { return kill(static_cast<pid_t>(*pid), 0) != 0; }));
}

}  // namespace

TEST_CASE("controller down: calls say unreachable within 20 s and do not wait for each other") {
  const auto submission = job_of("true");
  REQUIRE(scheduler().config().has_value());
  end_controller();
  const auto start = std::chrono::steady_clock::now();
  auto job = std::async(std::launch::async, [] { return scheduler().job(dts::JobId(1)); });
  auto cancelled = std::async(std::launch::async, [] { return scheduler().cancel(dts::JobId(1)); });
  const auto id = scheduler().submit(submission);
  REQUIRE_FALSE(id.has_value());
  CHECK(id.error().code == Errc::unreachable);
  CHECK(id.error().hint.find("scontrol ping") != std::string::npos);
  CHECK(job.get().error().code == Errc::unreachable);
  CHECK(cancelled.get().error().code == Errc::unreachable);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}
