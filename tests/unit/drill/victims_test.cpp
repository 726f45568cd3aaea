// SPDX-License-Identifier: Apache-2.0
// Which processes of a machine a drill may touch.
#include "core/drill/victims.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/process_table.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace {

using namespace dts;
using drill::Act;

// Stands for `dtsubmit rank` of rank 3: a shell of that name whose child has RANK=3.
class RankProcess {
 public:
  explicit RankProcess(unsigned attempt) {
    REQUIRE(write_file(folder_.file("dtsubmit"), read_file("/bin/sh").value(), 0700));
    REQUIRE(write_file(folder_.file("rank"), "RANK=3 sleep 300\nexit 0\n"));
    Command command;
    command.argv = {folder_.file("dtsubmit"), "rank"};
    command.folder = folder_.path;
    command.env = environment_with(
        {{"DTSUBMIT_RUN_DIR", folder_.path}, {"DTSUBMIT_ATTEMPT", std::to_string(attempt)}});
    command.own_group = true;
    pid_ = start_process(command).value();
    for (int i = 0; i < 3000 && !drill::program_of(run(), attempt, 3); ++i) ::usleep(10'000);
  }

  ~RankProcess() {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  [[nodiscard]] run::RunDirectory run() const { return {folder_.path}; }

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  tests::TemporaryFolder folder_;
  pid_t pid_ = 0;
};

char state_of(pid_t pid) {
  const std::string stat = read_file(proc_path(pid, "stat")).value();
  return stat.at(stat.rfind(')') + 2);
}

}  // namespace

TEST_CASE("a rank's program is its process's child, of this run, attempt and rank only") {
  const RankProcess rank(2);
  const auto program = drill::program_of(rank.run(), 2, 3);
  REQUIRE(program);
  CHECK(*program != rank.pid());
  CHECK(process_info(*program)->parent == rank.pid());
  CHECK_FALSE(drill::program_of(rank.run(), 2, 4).has_value());
  CHECK_FALSE(drill::program_of(rank.run(), 1, 3).has_value());
  CHECK_FALSE(drill::program_of({"/nowhere"}, 2, 3).has_value());
  auto all = drill::processes_of(rank.run(), 2);
  CHECK(all == std::vector<pid_t>{std::min(*program, rank.pid()), std::max(*program, rank.pid())});
}

TEST_CASE("an act without a victim says so; programs are stopped and killed") {
  const RankProcess rank(1);
  const pid_t program = drill::program_of(rank.run(), 1, 3).value();
  CHECK(drill::act_on_this_node(Act::kill, rank.run(), 1, 7).value() == 0);
  CHECK(drill::act_on_this_node(Act::count, rank.run(), 1, 0).value() == 2);
  REQUIRE(drill::act_on_this_node(Act::stop, rank.run(), 1, 3).value() == 1);
  for (int i = 0; i < 3000 && state_of(program) != 'T'; ++i) ::usleep(10'000);
  CHECK(state_of(program) == 'T');
  REQUIRE(drill::act_on_this_node(Act::lose, rank.run(), 1, 0).value() == 2);
  ::waitpid(rank.pid(), nullptr, 0);
  // Its program is killed too, and gone a moment later.
  for (int i = 0; i < 3000 && !drill::processes_of(rank.run(), 1).empty(); ++i) ::usleep(10'000);
  CHECK(drill::processes_of(rank.run(), 1).empty());
}

TEST_CASE("the words of the acts are read back") {
  for (const Act act : {Act::kill, Act::stop, Act::slow, Act::lose, Act::count})
    CHECK(drill::act_from(drill::to_string(act)) == act);
  CHECK_FALSE(drill::act_from("burn").has_value());
}
