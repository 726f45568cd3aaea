// SPDX-License-Identifier: Apache-2.0
// Parts that touch the machine but need no Slurm: the record, the lock, the search for processes.
#include "core/cluster/cluster.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process.hpp"
#include "core/cluster/layout/record.hpp"
#include "core/cluster/lock.hpp"
#include "core/cluster/processes.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace dts;
using namespace dts::cluster;
using namespace std::chrono_literals;

// A folder of its own, gone at the end.
struct Scratch {
  std::string path = "/tmp/dts-unit-cluster-" + std::to_string(::getpid());

  Scratch() { REQUIRE(make_folders(path)); }

  ~Scratch() { static_cast<void>(remove_all(path)); }

  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

pid_t sleeping(std::vector<std::string> environment) {
  Command command;
  command.argv = {"sleep", "60"};
  command.env = std::move(environment);
  return start_process(command).value();
}

bool ended_by_kill(pid_t pid) {
  int status = 0;
  // It may still be on its way out, without an environment by which it could be found; one that was
  // not killed ends by itself after a minute.
  const pid_t waited = ::waitpid(pid, &status, 0);
  // end_members buries children of ours itself.
  return waited == -1 || (waited == pid && WIFSIGNALED(status));
}

}  // namespace

TEST_CASE("a record is read back as it was written") {
  const Scratch scratch;
  Layout layout;
  layout.spec.folder = scratch.path;
  layout.spec.name = "lab";
  layout.spec.nodes = 3;
  layout.spec.proctrack = Proctrack::cgroup;
  layout.endpoints = {5, 6, 21000};
  layout.user = "ada";
  layout.memory_mib = 4096;
  layout.node_prefix = "nb";
  layout.boot = "this one";
  layout.own_host_names = false;
  REQUIRE(write_record(layout));
  const Layout read = read_record(scratch.path).value();
  CHECK(read.spec.name == "lab");
  CHECK(read.spec.nodes == 3);
  CHECK(read.spec.proctrack == Proctrack::cgroup);
  CHECK(read.endpoints == layout.endpoints);
  CHECK(read.user == "ada");
  CHECK(read.memory_mib == 4096);
  CHECK(read.node_prefix == "nb");
  CHECK(read.boot == "this one");
  CHECK_FALSE(read.own_host_names);
}

TEST_CASE("a damaged record is an error that names the file, not a crash") {
  const Scratch scratch;
  for (const char* text :
       {"", "{", "[]", "{\"schema\": 7}", "{\"schema\": \"dtsubmit/cluster-record/1\"}"}) {
    CAPTURE(text);
    REQUIRE(write_file(record_path(scratch.path), text));
    const auto read = read_record(scratch.path);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == Errc::invalid);
    CHECK(read.error().message.find("cluster.json") != std::string::npos);
  }
}

TEST_CASE("the lock of a folder excludes a second holder and ends with its value") {
  const Scratch scratch;
  auto first = lock_folder(scratch.path, IfAbsent::leave, 0ms);
  REQUIRE(first);
  CHECK_FALSE(lock_folder(scratch.path, IfAbsent::leave, 30ms));
  first->reset();
  CHECK(lock_folder(scratch.path, IfAbsent::leave, 0ms));
}

TEST_CASE("locking an absent folder makes it only when asked to") {
  const Scratch scratch;
  const std::string absent = scratch.path + "/a/b";
  const auto none = lock_folder(absent, IfAbsent::leave, 0ms);
  REQUIRE(none);
  CHECK_FALSE(none->valid());
  CHECK_FALSE(exists(absent));
  CHECK(lock_folder(absent, IfAbsent::create, 0ms)->valid());
}

TEST_CASE("end_members ends what bears a mark of the cluster, its children, and nobody else") {
  const std::string folder = "/nowhere/unit-" + std::to_string(::getpid());
  const std::string conf = "SLURM_CONF=" + folder + "/slurm.conf";
  const pid_t daemon = sleeping({std::string(k_mark) + "=" + folder});
  const pid_t task = sleeping({"A=1", conf, "SLURMD_NODENAME=n0"});
  const pid_t user_with_conf = sleeping({conf});
  const pid_t other_cluster = sleeping({std::string(k_mark) + "=" + folder + "2"});
  CHECK(find_members(folder, false).size() == 2);
  CHECK(end_members(folder, false, 5s));
  CHECK(ended_by_kill(daemon));
  CHECK(ended_by_kill(task));
  for (const pid_t stranger : {user_with_conf, other_cluster}) {
    CHECK(::waitpid(stranger, nullptr, WNOHANG) == 0);
    ::kill(stranger, SIGKILL);
    ::waitpid(stranger, nullptr, 0);
  }
}

TEST_CASE("down refuses a folder that is not a cluster's and leaves it alone") {
  const Scratch scratch;
  REQUIRE(write_file(scratch.path + "/thesis.tex", "years of work"));
  const auto result = down(scratch.path);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::invalid);
  CHECK(exists(scratch.path + "/thesis.tex"));
}

TEST_CASE("down of an absent cluster is fine, status of one is not") {
  CHECK(down("/tmp/dts-unit-absent-" + std::to_string(::getpid())));
  const auto result = status("/tmp/dts-unit-absent-" + std::to_string(::getpid()));
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::not_found);
}
