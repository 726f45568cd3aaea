// SPDX-License-Identifier: Apache-2.0
// Where ranks meet, and at which address each of them is reachable.
#include "tests/unit/launch/job_story.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;
using run::Cause;

}  // namespace

TEST_CASE("a world of one meets itself, without a probe") {
  JobStory job(1, 1);
  job.all_hello().listening(20001);
  CHECK(job.count<Probe>() == 0);
  CHECK(job.environment_of_rank(0)["MASTER_ADDR"] == "127.0.0.1");
  job.all_started().all_exit(0);
  CHECK(job.outcome().cause == Cause::completed);
}

TEST_CASE("on a single node, another of its ranks probes") {
  JobStory job(1, 3);
  job.all_hello().listening(20001);
  CHECK(job.told<Probe>(1).size() == 1);
  CHECK(job.count<Probe>() == 1);
}

TEST_CASE("one rank of every other node probes") {
  JobStory job(5, 2);
  job.all_hello().listening(20001);
  CHECK(job.count<Probe>() == 4);
  for (const unsigned rank : {2U, 4U, 6U, 8U}) CHECK(job.told<Probe>(rank).size() == 1);
}

TEST_CASE("no free port is a launch failure of rank 0's node") {
  JobStory job;
  job.all_hello().listening(0).killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "rank 0 on n0: none of 3 ports");
}

TEST_CASE("the meeting place is an address that every other node reaches") {
  JobStory job(3, 1);
  job.all_hello().listening(20001);
  job.reached(
      1, {"127.0.0.1", "10.0.0.0"});  // its own loopback cannot answer with the nonce, but suppose
  CHECK(job.count<Go>() == 0);
  job.reached(2, {"10.0.0.0"});
  CHECK(job.environment_of_rank(2)["MASTER_ADDR"] == "10.0.0.0");
}

TEST_CASE("a node's workers have the same kind of address as the master, and the ports they hold") {
  struct {
    std::map<std::string, std::string> scheduler;
    std::vector<std::string> reached;
    const char* hosts[3];
  } const table[] = {
      {{}, {"10.0.0.0"}, {"10.0.0.0", "10.0.0.1", "10.0.0.2"}},
      {{{"n0", "a"}, {"n1", "b"}, {"n2", "c"}}, {"a", "10.0.0.0"}, {"a", "b", "c"}},
      {{{"n0", "a"}, {"n1", "b"}}, {"a", "10.0.0.0"}, {"a", "b", "10.0.0.2"}},
      {{{"n1", "b"}, {"n2", "c"}}, {"10.0.0.0"}, {"10.0.0.0", "10.0.0.1", "10.0.0.2"}},
      // The scheduler's network differs from the nodes' own.
      {{{"n0", "a"}, {"n1", "b"}, {"n2", "c"}}, {"10.0.0.0"}, {"10.0.0.0", "10.0.0.1", "10.0.0.2"}},
  };

  for (const auto& row : table) {
    JobStory job(3, 2);
    job.attempt().set_node_addresses(row.scheduler);
    job.all_hello().listening(20001).reached(2, row.reached).reached(4, row.reached);
    const std::string first = row.hosts[0], second = row.hosts[1], third = row.hosts[2];
    CAPTURE(first + second + third);
    CHECK(job.environment_of_rank(4)["TF_CONFIG"] ==
          R"({"cluster":{"worker":[")" + first + ":21000\",\"" + first + ":21001\",\"" + second +
              ":21002\",\"" + second + ":21003\",\"" + third + ":21004\",\"" + third +
              R"(:21005"]},"task":{"type":"worker","index":4}})");
    CHECK(job.environment_of_rank(4)["SM_HOSTS"] ==
          "[\"" + first + "\",\"" + second + "\",\"" + third + "\"]");
    CHECK(job.environment_of_rank(4)["JAX_COORDINATOR_ADDRESS"] == first + ":21000");
    CHECK(job.environment_of_rank(4)["MASTER_ADDR"] == first);
  }
}

TEST_CASE("nodes are numbered by their lowest rank even if their names sort differently") {
  JobStory job(3, 1);
  for (unsigned rank = 0; rank < 3; ++rank) {
    Hello hello = job.hello_of(rank);
    hello.rank.node = std::string(1, static_cast<char>('c' - rank));  // c, b, a
    job.hello(rank, hello);
  }
  job.listening(20001).all_reached();
  CHECK(job.environment_of_rank(1)["SM_HOSTS"] == R"(["10.0.0.0","10.0.0.1","10.0.0.2"])");
  CHECK(job.environment_of_rank(1)["SM_CURRENT_HOST"] == "10.0.0.1");
}

TEST_CASE("on one node all workers are at the address that was reached") {
  JobStory job(1, 2);
  job.all_hello().listening(20001).reached(1, {"10.0.0.0"}, "lo");
  CHECK(job.environment_of_rank(1)["SM_HOSTS"] == R"(["10.0.0.0"])");
  CHECK(job.environment_of_rank(1)["GLOO_SOCKET_IFNAME"] == "lo");
  JobStory alone(1, 1);
  alone.all_hello().listening(20001);
  CHECK(alone.environment_of_rank(0)["JAX_COORDINATOR_ADDRESS"] == "127.0.0.1:21000");
  CHECK(alone.environment_of_rank(0).count("GLOO_SOCKET_IFNAME") == 0);
}

TEST_CASE("an interface is named only if it has the same name on every route") {
  struct {
    const char *of_rank_1, *of_rank_2, *expected;
  } const table[] = {
      {"eth0", "eth0", "eth0"}, {"eth0", "ens3", ""}, {"eth0", "", ""}, {"", "", ""}};

  for (const auto& row : table) {
    JobStory job(3, 1);
    job.all_hello().listening(20001);
    job.reached(1, {"127.0.0.1"}, "lo");
    CHECK(job.count<Go>() == 0);
    job.reached(1, {"10.0.0.0"}, row.of_rank_1).reached(2, {"10.0.0.0"}, row.of_rank_2);
    for (unsigned rank = 0; rank < 3; ++rank)
      CHECK(job.environment_of_rank(rank)["GLOO_SOCKET_IFNAME"] == row.expected);
  }
}

TEST_CASE("a rank that holds no port for its own server ends the attempt by name") {
  JobStory job;
  job.hello(0).hello(1).hello(2);
  Hello hello = job.hello_of(3);
  hello.worker_port = 0;
  job.hello(3, hello).killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "rank 3 on n1: none of the ports tried");
}

TEST_CASE("a rank that was not asked to probe cannot choose the address") {
  JobStory job(3, 2);
  job.all_hello().listening(20001).reached(3, {"10.6.6.6"}).reached(5, {"10.6.6.6"});
  CHECK(job.count<Go>() == 0);
  CHECK_FALSE(job.over());
  job.all_reached();
  CHECK(job.environment_of_rank(3)["MASTER_ADDR"] == "10.0.0.0");
}

TEST_CASE("a rank 0 without a network is distinguished from one that is not reached") {
  struct {
    std::vector<std::string> addresses;
    bool alone;
  } const table[] = {
      {{"127.0.0.1", "::1"}, true}, {{"127.0.1.1"}, true}, {{"10.0.0.0", "127.0.0.1"}, false}};

  for (const auto& row : table) {
    JobStory job;
    Hello hello = job.hello_of(0);
    hello.addresses = row.addresses;
    job.hello(0, hello).hello(1).hello(2).hello(3);
    job.listening(20001).reached(2, {}).killed_ranks_exit();
    check_ended(
        job, Cause::launch_failed, "no address of n0 is reached by every other node on port 20001");
    CHECK(job.says_why("its interfaces have loopback addresses only") == row.alone);
  }
}

TEST_CASE("the scheduler's address of the node is tried first") {
  JobStory job;
  job.attempt().set_node_addresses({{"n0", "192.168.7.1"}, {"n1", "192.168.7.2"}});
  job.all_hello().listening(20001);
  CHECK(job.told<Probe>(2)[0].addresses.front() == "192.168.7.1");
  job.all_reached();
  CHECK(job.environment_of_rank(0)["MASTER_ADDR"] == "192.168.7.1");
}

// Rank 0 of three nodes has these addresses; "slurm" is the scheduler's for its node.
JobStory story_with_links(const std::vector<std::string>& addresses,
                          const std::vector<Link>& links,
                          const std::string& interface = "") {
  JobStory job(3, 1);
  job.meet_on(interface);
  job.attempt().set_node_addresses({{"n0", "slurm"}});
  Hello hello = job.hello_of(0);
  hello.addresses = addresses;
  hello.links = links;
  job.hello(0, hello).hello(1).hello(2);
  job.listening(20001);
  return job;
}

TEST_CASE("ranks meet on the fastest adapter that all nodes reach") {
  const std::vector<std::string> addresses = {"10.0.0.0", "172.17.0.1", "10.1.0.1", "127.0.0.1"};

  struct {
    std::vector<Link> links;
    std::vector<std::string> order;
  } const table[] = {{{}, {"slurm", "10.0.0.0", "172.17.0.1", "10.1.0.1", "127.0.0.1"}},
                     {{{"eth0", 0}, {"docker0", 0}, {"ib0", 0}, {"lo", 0}},
                      {"slurm", "10.0.0.0", "172.17.0.1", "10.1.0.1", "127.0.0.1"}},
                     {{{"eth0", 1000}, {"docker0", 0}, {"ib0", 200'000}, {"lo", 0}},
                      {"10.1.0.1", "slurm", "10.0.0.0", "172.17.0.1", "127.0.0.1"}},
                     {{{"eth0", 25'000}, {"docker0", 0}, {"eth1", 25'000}, {"lo", 0}},
                      {"slurm", "10.0.0.0", "172.17.0.1", "10.1.0.1", "127.0.0.1"}}};

  for (const auto& row : table) {
    JobStory job = story_with_links(addresses, row.links);
    CHECK(job.told<Probe>(1)[0].addresses == row.order);
    job.reached(1, row.order).reached(2, {row.order[1], row.order[2]});
    CHECK(job.environment_of_rank(2)["MASTER_ADDR"] == row.order[1]);
  }
}

TEST_CASE("nodes that the scheduler places on this machine meet there") {
  JobStory job(3, 1);
  job.attempt().set_node_addresses({{"n0", "127.0.1.1"}});
  Hello hello = job.hello_of(0);
  hello.links = {{"eth0", 10'000}, {"lo", 0}};
  job.hello(0, hello).hello(1).hello(2);
  job.listening(20001);
  CHECK(job.told<Probe>(1)[0].addresses ==
        std::vector<std::string>{"127.0.1.1", "10.0.0.0", "127.0.0.1"});
}

TEST_CASE("--interface uses only its addresses, or reports which interfaces exist") {
  const std::vector<std::string> addresses = {"10.0.0.0", "fd00::1", "10.1.0.1", "127.0.0.1"};
  const std::vector<Link> links = {{"eth0", 1000}, {"eth0", 1000}, {"ib0", 200'000}, {"lo", 0}};
  JobStory job = story_with_links(addresses, links, "eth0");
  CHECK(job.told<Probe>(1)[0].addresses == std::vector<std::string>{"10.0.0.0", "fd00::1"});
  JobStory wrong = story_with_links(addresses, links, "eth7");
  wrong.killed_ranks_exit();
  check_ended(
      wrong, Cause::launch_failed, "n0 has no address on --interface eth7; it has eth0, ib0, lo");
}

TEST_CASE("no address that all reach is a launch failure that lists what was tried") {
  JobStory job(3, 1);
  job.all_hello()
      .listening(20001)
      .reached(1, {"10.0.0.0"})
      .reached(2, {"127.0.0.1"})
      .killed_ranks_exit();
  check_ended(
      job, Cause::launch_failed, "no address of n0 is reached by every other node on port 20001");
  CHECK(job.says_why("10.0.0.0, 127.0.0.1"));
}

TEST_CASE("a rendezvous that takes too long is a launch failure") {
  JobStory silent;
  silent.all_hello().wait(21s).killed_ranks_exit();
  check_ended(silent, Cause::launch_failed, "no rendezvous within 20 s");
  JobStory half(3, 1);
  half.all_hello().listening(20001).reached(1, {"10.0.0.0"}).wait(21s).killed_ranks_exit();
  check_ended(half, Cause::launch_failed, "no rendezvous within 20 s");
}

TEST_CASE("a place that the command names is doubted if other nodes do not reach it") {
  struct {
    const char* place;
    bool is_doubted;
  } const table[] = {{"10.0.0.0", false},
                     {"n1", false},
                     {"10.0.0.9", true},
                     {"localhost", true},
                     {"127.0.0.1", true}};  // each node has it

  for (const auto& row : table) {
    CAPTURE(row.place);
    JobStory job(2, 1);
    job.program({"accelerate", "launch", "--main_process_ip", row.place, "t.py"});
    job.running();
    const auto events = job.attempt().take_events();
    CHECK(std::any_of(events.begin(), events.end(), [](const run::Event& event) {
            const auto* warning = event.as<run::Warning>();
            return warning != nullptr && warning->detail.starts_with("--main_process_ip ");
          }) == row.is_doubted);
  }
}
