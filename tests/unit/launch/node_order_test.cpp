// SPDX-License-Identifier: Apache-2.0
// What is sent to the hosts of an ssh launch: the ssh command, and the order on its standard input.
#include "core/launch/launcher/node_order.hpp"

#include "core/launch/launcher/ssh_launcher.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using namespace dts;
using namespace dts::launch;
using Words = std::vector<std::string>;

NodeOrder an_order() {
  return {"/runs/a b",
          3,
          "n2",
          4,
          2,
          8,
          "/home/me",
          {"A=1", "B=", "C=\xff\n'\""},
          {"python3", "", "a b", "$(x)", "\n"}};
}

}  // namespace

TEST_CASE("an order arrives as sent, and not before it is complete") {
  const NodeOrder sent = an_order();
  const std::string bytes = to_bytes(sent);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    const auto part = parse_node_order(bytes.substr(0, length));
    REQUIRE(part);
    CHECK_FALSE(part->has_value());
  }
  const auto whole = parse_node_order(bytes);
  REQUIRE(whole);
  REQUIRE(whole->has_value());
  const NodeOrder& order = **whole;
  CHECK(order.run_directory == sent.run_directory);
  CHECK(order.attempt == sent.attempt);
  CHECK(order.node == sent.node);
  CHECK(order.first_rank == sent.first_rank);
  CHECK(order.ranks == sent.ranks);
  CHECK(order.world_size == sent.world_size);
  CHECK(order.folder == sent.folder);
  CHECK(order.environment == sent.environment);
  CHECK(order.command == sent.command);
}

TEST_CASE("an invalid order is refused, and the error says who should have sent it") {
  const auto bytes = [](std::initializer_list<const char*> texts) {
    std::string all;
    for (const char* text : texts) all += std::string(text) + '\0';
    return all;
  };
  for (const std::string& wrong :
       {std::string(100, 'x'),
        bytes({"dtsubmit/node/2", "0"}),
        bytes({"dtsubmit/node/1", "many"}),
        bytes({"dtsubmit/node/1", "99999999999"}),
        bytes({"dtsubmit/node/1", "0"}),
        bytes({"dtsubmit/node/1", "9", "/r", "1", "n", "0", "1", "1", "/", "0", "0"}),
        bytes({"dtsubmit/node/1", "10", "/r", "1", "n", "0", "0", "1", "/", "0", "1", "a"}),
        bytes({"dtsubmit/node/1", "10", "/r", "1", "n", "-1", "1", "1", "/", "0", "1", "a"}),
        bytes({"dtsubmit/node/1", "10", "/r", "1", "n", "0", "1", "1", "/", "0", "999999", "a"}),
        bytes({"dtsubmit/node/1", "11", "/r", "1", "n", "0", "1", "1", "/", "0", "1", "a", "b"})}) {
    CAPTURE(wrong);
    const auto order = parse_node_order(wrong);
    REQUIRE_FALSE(order);
    CHECK(order.error().code == Errc::invalid);
    CHECK(order.error().hint.find("--hosts") != std::string::npos);
  }
}

TEST_CASE("ranks are distributed in the order of the hosts") {
  plan::Plan plan;
  plan.hosts = {{"n1", 2}, {"n2", 1}, {"m", 3}};
  plan.world_size = 6;
  plan.command = {"true"};
  const auto orders = node_orders(plan);
  REQUIRE(orders.size() == 3);
  const std::pair<unsigned, unsigned> expected[] = {{0, 2}, {2, 1}, {3, 3}};
  for (std::size_t i = 0; i < orders.size(); ++i) {
    CHECK(orders[i].node == plan.hosts[i].host);
    CHECK(orders[i].first_rank == expected[i].first);
    CHECK(orders[i].ranks == expected[i].second);
    CHECK(orders[i].world_size == 6);
    CHECK(orders[i].command == plan.command);
  }
}

TEST_CASE("ssh never prompts, forwards nothing, and the remote shell gets one safe line") {
  const Words argv = ssh_command(
      {"ssh", "-F", "my config", "-o", "ConnectTimeout=3"}, "n1", {"/my programs/it's", "node"});
  CHECK(Words(argv.begin(), argv.begin() + 5) ==
        Words{"ssh", "-F", "my config", "-o", "ConnectTimeout=3"});
  for (const char* option : {"BatchMode=yes",
                             "ConnectTimeout=10",  // after the user's, which takes precedence
                             "ControlMaster=no",
                             "ClearAllForwardings=yes"})
    CHECK_MESSAGE(std::find(argv.begin() + 5, argv.end(), option) != argv.end(),
                  std::string(option));
  CHECK(Words(argv.end() - 3, argv.end()) ==
        Words{"--", "n1", R"(exec '/my programs/it'\''s' node)"});
}

TEST_CASE("a machine keeps its own variables, all others are sent") {
  for (const char* name :
       {"HOSTNAME", "SSH_CONNECTION", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DISPLAY", "HOME", "_"})
    CHECK_MESSAGE(is_machine_variable(name), std::string(name));
  for (const char* name : {"PATH",
                           "LD_LIBRARY_PATH",
                           "VIRTUAL_ENV",
                           "PWD",
                           "HOMEPATH",
                           "NCCL_DEBUG",
                           "CUDA_VISIBLE_DEVICES",
                           "TMPDIR",
                           "DTSUBMIT_RUN_DIR",
                           ""})
    CHECK_FALSE_MESSAGE(is_machine_variable(name), std::string(name));
}
