// SPDX-License-Identifier: Apache-2.0
// Other launchers' processes below a program, found in /proc.
#include "core/launch/program/find_launched.hpp"

#include "core/base/os/process.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;

const OwnVariables k_own{
    {"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "n0"}, {"MASTER_PORT", "29500"}};

// A program of rank 3 of 4: a shell that runs `script`.
class Shell {
 public:
  explicit Shell(const std::string& script) {
    Command command;
    command.argv = {"/bin/sh", "-c", script};
    command.env = environment_with(
        {{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "n0"}, {"MASTER_PORT", "29500"}});
    command.own_group = true;
    pid_ = start_process(command).value();
  }

  ~Shell() {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  // Returns as soon as there are `count` processes, or after 10 s.
  [[nodiscard]] std::optional<Launched> found(std::size_t count) const {
    const auto until = std::chrono::steady_clock::now() + 10s;
    for (;;) {
      auto launched = find_launched(pid_, k_own);
      if (launched && launched->processes.size() >= count) return launched;
      if (std::chrono::steady_clock::now() > until) return launched;
      std::this_thread::sleep_for(5ms);
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

constexpr const char* k_two =
    "for r in 0 1; do RANK=$r WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 sleep 60 & done; "
    "wait";

}  // namespace

TEST_CASE("processes with their own ranks, their meeting place, and what started them") {
  const Shell shell(k_two);
  const auto launched = shell.found(2);
  REQUIRE(launched);
  REQUIRE(launched->processes.size() == 2);
  for (unsigned rank : {0U, 1U}) {
    CHECK(launched->processes[rank].rank == rank);
    CHECK(launched->processes[rank].world_size == 2);
    CHECK(launched->processes[rank].master == "127.0.0.1:1");
  }
  CHECK(launched->launcher.empty());
  CHECK(launched->command.find("/bin/sh -c") == 0);
  CHECK(launched->processes[0].program == launched->processes[1].program);
  CHECK(launched->processes[0].program != launched->started);
  const Shell again(k_two);
  CHECK(again.found(2) == launched);
}

TEST_CASE("a process with the program's own rank is not another launcher's rank") {
  const Shell shell("sleep 60 & sleep 60 & wait");
  std::this_thread::sleep_for(50ms);
  CHECK_FALSE(find_launched(shell.pid(), k_own));
}

TEST_CASE("a launcher is recognised by name before it has started anything") {
  const Shell shell("bash -c 'exec -a torchrun sleep 60' & wait");
  for (int i = 0; i < 1000 && !find_launched(shell.pid(), k_own); ++i)
    std::this_thread::sleep_for(10ms);
  const auto launched = find_launched(shell.pid(), k_own);
  REQUIRE(launched);
  CHECK(launched->launcher == "torchrun");
  CHECK(launched->command == "torchrun 60");
  CHECK(launched->processes.empty());
}

TEST_CASE("torchrun is recognised by the variables it sets, whatever its name") {
  const Shell shell("RANK=0 WORLD_SIZE=2 TORCHELASTIC_RUN_ID=none sleep 60 & wait");
  const auto launched = shell.found(1);
  REQUIRE(launched);
  CHECK(launched->launcher == "torchrun");
  CHECK(launched->processes.at(0).master == "n0:29500");
}

TEST_CASE("another launcher's world may have the program's own rank and size") {
  const Shell elsewhere("MASTER_PORT=1 sleep 60 & wait");
  CHECK(elsewhere.found(1)->processes.at(0).rank == 3);
  const Shell torchrun("TORCHELASTIC_RUN_ID=none sleep 60 & wait");
  CHECK(torchrun.found(1)->processes.at(0).rank == 3);
}

TEST_CASE("invalid ranks, or ranks outside their world, are ignored") {
  const Shell shell(
      "RANK=x WORLD_SIZE=2 sleep 60 & RANK=2 WORLD_SIZE=2 sleep 60 & RANK=0 WORLD_SIZE= sleep 60 & "
      "RANK=99999999999 WORLD_SIZE=999999999999 sleep 60 & wait");
  std::this_thread::sleep_for(100ms);
  CHECK_FALSE(find_launched(shell.pid(), k_own));
}

TEST_CASE("a finding is reported once, and its disappearance only after a while") {
  const Shell shell(k_two);
  REQUIRE(shell.found(2));
  LaunchedWatch watch;
  auto now = LaunchedWatch::Time();
  CHECK(watch.next_poll() == LaunchedWatch::Time::max());
  watch.begin({k_own.begin(), k_own.end()}, now);
  CHECK(watch.next_poll() == now + 250ms);
  CHECK(watch.poll(shell.pid(), now += 1s));
  CHECK_FALSE(watch.poll(shell.pid(), now += 1s));
  const Shell idle("sleep 60");
  CHECK_FALSE(watch.poll(idle.pid(), now += 9s));
  const auto gone = watch.poll(idle.pid(), now += 2s);
  REQUIRE(gone);
  CHECK(gone->processes.empty());
  CHECK_FALSE(watch.poll(idle.pid(), now += 60s));
  CHECK(watch.next_poll() == now + 1s);
  CHECK_FALSE(watch.poll(0, now));
  CHECK(watch.next_poll() == LaunchedWatch::Time::max());
}
