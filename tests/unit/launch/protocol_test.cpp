// SPDX-License-Identifier: Apache-2.0
// The control channel's messages: each arrives as sent, and nothing else is accepted.
#include "core/launch/wire/protocol.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <random>

namespace {

using namespace dts;
using namespace dts::launch;
using nlohmann::json;

Hello a_hello() {
  Hello hello;
  hello.token = "0123456789abcdef";
  hello.rank = {3, 16, 1, "n1", {"0", "GPU-1"}};
  hello.host = "n1.cluster";
  hello.pid = 4711;
  hello.addresses = {"10.0.0.1", "fd00::1", "127.0.0.1"};
  hello.links = {{"ib0", 200'000}, {"eth0", 0}, {"lo", 0}};
  hello.topology = true;
  hello.worker_port = 29501;
  hello.folder_trouble = "the working folder /a \"b\" cannot be entered: No such file";
  return hello;
}

Go a_go() {
  Go go;
  go.binding.cpus = {2, 3};
  go.binding.memory = {plan::MemoryPolicy::Kind::bind, {0, 1}};
  go.binding.gpus_per_node = 8;
  go.strict_binding = true;
  go.environment = {{"RANK", "3"}, {"A", "with \"quotes\" and =\n"}, {"B", "/\xe9"}};
  go.log = "/runs/a/attempt-1/rank-3.log";
  go.thread_cpus = {2, 3};
  go.set_up = {{"A=b"}, {"C"}};
  go.limits = {"nofile=65536"};
  go.umask = "027";
  go.command = {"composer", "--node_rank=1", "\xff.py", ""};
  return go;
}

Go a_contained_go() {
  Go go = a_go();
  go.container = {"/images/a.sif",
                  spec::ContainerRuntime::apptainer,
                  {{"/data", "/d", true}},
                  {{"HF_TOKEN"}, {"A", "b=\"c\"\n"}}};
  return go;
}

const std::vector<FromRank> k_from_rank{
    a_hello(),
    Listening{29500},
    Listening{0},
    Listening{12001, "one of SLURM_STEP_RESV_PORTS=12000-12003"},
    Topology{R"({"cores":[[0,0,0,[0,1]]],"gpus":[]})"},
    Measured{R"({"gpus":[],"no_nvml":""})"},
    ClockReading{1'700'000'000'123},
    ClockReading{-1},
    Reached{{{"n0", "10.0.0.2", "eth0"}, {"fd00::1", "fd00::2", ""}}},
    Reached{},
    Bound{R"({"cpus":"0-7"})"},
    SetUpEnded{"--setup a: `b` exited 1", {}},
    SetUpEnded{"", {{"A=\xff\n", "B="}, {"C"}}},
    Staging{1'000, 18'446'744'073'709'551'615ULL},
    Started{4712},
    Launched{"torchrun", "python3 t \"a\"\n", "ab", {{0, 2, "n0:1", "cd"}, {1, 2, "", "cd"}}},
    Launched{},
    Signalled{15},
    Progress{},
    Progress{18'446'744'073'709'551'615ULL, 300, "S", {1500, 4, 203, 12, 61000}},
    Dumped{},
    Dumped{false},
    Exited{0},
    Exited{255},
    Exited{137, true},
    Exited{0, false, true},
    Exited{0, false, false, "train \"a\"\n"},
    Failed{"cannot start `a \"b\"\n`"},
    Refused{"0123456789abcdef", "n2", "PMIX_RANK=7 but \"SLURM_PROCID\"=1"},
    Refused{"0123456789abcdef", "n2", "no program `dtsubmit-topology`", true},
    Notice{"0123456789abcdef", "n2", 15},
    Attached{"0123456789abcdef"},
    NotLaunched{"0123456789abcdef", "n2: ssh: connect to host n2 port 22: No route to host"},
    Verify{"0123456789abcdef"}};

const std::vector<ToRank> k_to_rank{
    AskClock{},
    Listen{{20000, 20001}, "abcd"},
    Probe{{"10.0.0.1", "fd00::1"}, 20001, "abcd"},
    a_go(),
    a_contained_go(),
    Go{{}, false, {}, "l", 15, false, 0, 93'000},
    Advise{93'000},
    ReadBack{},
    Stacks{"/runs/a/attempt-1/stacks-rank-0.txt"},
    Stacks{"/runs/a/attempt-1/stacks-rank-1.txt", true},
    Stop{10},
    Kill{},
    Bye{},
    Bye{true},
    SetUp{"true\n", "false", "/runs/a/set-up-n0.log", {{"A", "\xff"}}, true}};

// Fields whose absence is no error.
bool is_optional(const std::string& field) {
  return field == "topology" || field == "folder_trouble" || field == "note" ||
         field == "log_timestamps" || field == "container";
}

// Omits each field of `line` in turn, and gives it a value of the wrong type.
template <class Parse>
void check_every_field_is_needed(const std::string& line, const Parse& parse) {
  const json whole = json::parse(line);
  for (const auto& item : whole.items()) {
    const std::string& field = item.key();
    const json& value = item.value();
    CAPTURE(line);
    CAPTURE(field);
    json without = whole;
    without.erase(field);
    CHECK(parse(without.dump()).has_value() == is_optional(field));
    for (const json& wrong : {json(nullptr),
                              value.is_boolean() ? json(0) : json(true),
                              json(1.5),
                              json::object(),
                              json({{{"a", 1}}}),
                              value.is_string() ? json(7) : json("7")}) {
      if (wrong.type() == value.type()) continue;
      json with = whole;
      with[field] = wrong;
      CAPTURE(wrong.dump());
      const auto parsed = parse(with.dump());
      REQUIRE_FALSE(parsed);
      CHECK(parsed.error().code == Errc::invalid);
      CHECK(parsed.error().message.find("control channel: ") == 0);
    }
  }
}

}  // namespace

TEST_CASE("every message of a rank arrives as sent, on one line") {
  for (const FromRank& message : k_from_rank) {
    const std::string line = to_line(message);
    CHECK(line.find('\n') == std::string::npos);
    const auto back = parse_from_rank(line);
    REQUIRE(back);
    CHECK(back->index() == message.index());
    CHECK(to_line(*back) == line);
  }
}

TEST_CASE("every message of the agent arrives as sent, on one line") {
  for (const ToRank& message : k_to_rank) {
    const std::string line = to_line(message);
    CHECK(line.find('\n') == std::string::npos);
    const auto back = parse_to_rank(line);
    REQUIRE(back);
    CHECK(back->index() == message.index());
    CHECK(to_line(*back) == line);
  }
}

TEST_CASE("a hello carries everything the placement needs") {
  const auto back = parse_from_rank(to_line(FromRank(a_hello())));
  REQUIRE(back);
  const auto& hello = std::get<Hello>(*back);
  CHECK(hello.token == "0123456789abcdef");
  CHECK(hello.rank.rank == 3);
  CHECK(hello.rank.world_size == 16);
  CHECK(hello.rank.local_rank == 1);
  CHECK(hello.rank.node == "n1");
  CHECK(hello.rank.gpu_ids == std::vector<std::string>{"0", "GPU-1"});
  CHECK(hello.host == "n1.cluster");
  CHECK(hello.pid == 4711);
  CHECK(hello.addresses.size() == 3);
  REQUIRE(hello.links.size() == 3);
  CHECK(hello.links[0].interface == "ib0");
  CHECK(hello.links[0].mbps == 200'000);
  CHECK(hello.topology == a_hello().topology);
  CHECK(hello.worker_port == 29501);
}

TEST_CASE("the longest hello of a real rank fits the limit for strangers") {
  Hello hello = a_hello();
  hello.token = std::string(32, 'f');
  hello.rank = {4294967295, 4294967295, 4294967295, std::string(255, 'n'), {}};
  for (unsigned gpu = 0; gpu < 16; ++gpu)
    hello.rank.gpu_ids.push_back("MIG-GPU-" + std::string(36, 'a') + "/" + std::to_string(gpu) +
                                 "/0");
  hello.host = std::string(255, 'h');
  hello.addresses.assign(k_most_addresses,
                         "2001:0db8:85a3:0000:0000:8a2e:0370:7334%" + std::string(15, 'i'));
  hello.links.assign(k_most_addresses, {std::string(15, 'i'), 99'999'999});
  CHECK(to_line(FromRank(hello)).size() < k_longest_first_line);
  hello.links.pop_back();
  CHECK_FALSE(parse_from_rank(to_line(FromRank(hello))));
}

TEST_CASE("a route arrives complete, and each of its fields is required") {
  const std::string line = to_line(FromRank(Reached{{{"n0", "10.0.0.2", "eth0"}}}));
  const auto back = parse_from_rank(line);
  REQUIRE(back);
  const Route route = std::get<Reached>(*back).routes.at(0);
  CHECK(route.address == "n0");
  CHECK(route.from == "10.0.0.2");
  CHECK(route.interface == "eth0");
  for (const char* field : {"address", "from", "interface"}) {
    json without = json::parse(line);
    without["routes"][0].erase(field);
    CHECK_FALSE(parse_from_rank(without.dump()));
  }
}

TEST_CASE("the environment of a go keeps its order and any characters") {
  const auto back = parse_to_rank(to_line(k_to_rank[3]));
  REQUIRE(back);
  const auto& go = std::get<Go>(*back);
  REQUIRE(go.environment.size() == 3);
  CHECK(go.environment[1].second == "with \"quotes\" and =\n");
  CHECK(go.environment[2].second == "/\xe9");
  CHECK(go.binding.cpus == std::vector<unsigned>{2, 3});
  CHECK(go.binding.memory == a_go().binding.memory);
  CHECK(go.strict_binding);
}

TEST_CASE("paths and set-up that are not UTF-8 arrive as they are") {
  Go go = a_go();
  go.log = "/d\xe9t/rank-0.log";
  const SetUp set_up{"echo \xe9\n", "\xff", "/d\xe9t/set-up.log", {}, false};
  const Stacks stacks{"/d\xe9t/stacks.txt"};
  for (const ToRank& message : {ToRank(go), ToRank(set_up), ToRank(stacks)}) {
    const auto back = parse_to_rank(to_line(message));
    REQUIRE(back);
    CHECK(to_line(*back) == to_line(message));
  }
  CHECK(std::get<Go>(*parse_to_rank(to_line(ToRank(go)))).log == go.log);
  CHECK(std::get<SetUp>(*parse_to_rank(to_line(ToRank(set_up)))).script == set_up.script);
  CHECK(std::get<Stacks>(*parse_to_rank(to_line(ToRank(stacks)))).file == stacks.file);
}

TEST_CASE("each field is required, with the right type") {
  for (const FromRank& message : k_from_rank)
    check_every_field_is_needed(to_line(message), parse_from_rank);
  for (const ToRank& message : k_to_rank)
    check_every_field_is_needed(to_line(message), parse_to_rank);
}

TEST_CASE("a number that does not fit is refused, not wrapped around") {
  const std::string hello = to_line(FromRank(a_hello()));
  for (const char* rank : {"-1", "4294967296", "18446744073709551616", "1e3", "3.0"}) {
    std::string line = hello;
    line.replace(line.find("\"rank\":3"), 8, std::string("\"rank\":") + rank);
    CAPTURE(line);
    CHECK_FALSE(parse_from_rank(line));
  }
  CHECK_FALSE(parse_from_rank(R"({"type":"listening","port":65536})"));
  std::string far = hello;
  far.replace(far.find(":29501"), 6, ":65536");
  CHECK_FALSE(parse_from_rank(far));
  CHECK_FALSE(parse_from_rank(R"({"type":"exited","code":256,"out_of_memory":false})"));
  CHECK_FALSE(parse_from_rank(R"({"type":"exited","code":2147483648,"out_of_memory":false})"));
  CHECK_FALSE(parse_from_rank(R"({"type":"exited","code":-2147483649,"out_of_memory":false})"));
  const std::string go = to_line(ToRank(a_go()));
  for (const auto& [cpus, fits] : {std::pair{"[0,-1]", false}, {"[0,4294967295]", true}}) {
    std::string line = go;
    line.replace(line.find("[2,3]"), 5, cpus);
    CHECK(parse_to_rank(line).has_value() == fits);
  }
  std::string nowhere = go;
  nowhere.replace(nowhere.find("bind 0,1"), 8, "bind to0");
  CHECK_FALSE(parse_to_rank(nowhere));
}

TEST_CASE("an invalid message is refused with a reason") {
  for (const char* line : {"",
                           " ",
                           "{",
                           "[]",
                           "null",
                           "7",
                           "\"hello\"",
                           "{}",
                           R"({"type":7})",
                           R"({"type":"helo"})",
                           R"({"type":"bye"})",
                           R"({"type":"hello"} trailing)",
                           "\xff\xfe",
                           "GET / HTTP/1.1\r"}) {
    CAPTURE(line);
    const auto parsed = parse_from_rank(line);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == Errc::invalid);
    CHECK_FALSE(parsed.error().message.empty());
  }
  CHECK(parse_from_rank(R"({"type":"helo"})").error().message.find("`helo`") != std::string::npos);
  CHECK_FALSE(parse_to_rank(to_line(FromRank(Exited{0}))));
}

TEST_CASE("a megabyte of open brackets is refused, not a crash") {
  for (const char* bracket : {"[", "{\"a\":"}) {
    std::string deep;
    while (deep.size() < (1U << 20)) deep += bracket;
    CHECK_FALSE(parse_from_rank(deep));
    CHECK_FALSE(parse_to_rank(deep));
    CHECK_FALSE(parse_channel_file(deep));
  }
}

TEST_CASE("random bytes and damaged messages never crash a parser") {
  std::mt19937 random(20260102);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const std::vector<std::string> seeds{to_line(FromRank(a_hello())),
                                       to_line(k_to_rank[3]),
                                       to_text(ChannelFile{"t", "n1", {"10.0.0.1"}, 4})};
  for (unsigned round = 0; round < 20'000; ++round) {
    std::string text = seeds[below(seeds.size())];
    if (round % 4 == 0) text.assign(below(200), '\0');
    for (std::size_t flips = 1 + below(8); flips > 0 && !text.empty(); --flips)
      text[below(text.size())] = static_cast<char>(below(256));
    if (round % 3 == 0) text.resize(below(text.size() + 1));
    // A message that is accepted is one that can be sent again.
    if (const auto parsed = parse_from_rank(text)) CHECK(parse_from_rank(to_line(*parsed)));
    if (const auto parsed = parse_to_rank(text)) CHECK(parse_to_rank(to_line(*parsed)));
    if (const auto parsed = parse_channel_file(text)) CHECK(parse_channel_file(to_text(*parsed)));
  }
}

TEST_CASE("bytes that are not UTF-8 in a message do not throw") {
  const auto back = parse_from_rank(to_line(FromRank(Failed{"cannot start `\xff`"})));
  REQUIRE(back);
  CHECK(std::get<Failed>(*back).message.find("cannot start") == 0);
}

TEST_CASE("the channel file is read back, and each of its fields is required") {
  const std::string text = to_text({"0123", "n1", {"10.0.0.1", "n1.cluster"}, 41234});
  const auto channel = parse_channel_file(text);
  REQUIRE(channel);
  CHECK(channel->token == "0123");
  CHECK(channel->node == "n1");
  CHECK(channel->addresses == std::vector<std::string>{"10.0.0.1", "n1.cluster"});
  CHECK(channel->port == 41234);
  const json whole = json::parse(text);
  for (const auto& [field, value] : whole.items()) {
    json without = whole;
    without.erase(field);
    const auto parsed = parse_channel_file(without.dump());
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().message.find("channel.json: ") == 0);
  }
}
