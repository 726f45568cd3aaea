// SPDX-License-Identifier: Apache-2.0
// Which nodes of an allocation with spares are used, and how a node's report is judged.
#include "core/launch/health/node_choice.hpp"

#include "core/base/text/text.hpp"

#include <doctest/doctest.h>

#include <cerrno>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;

// "n0", "n1 lost", "n2 away", "n3 suspect", "n4 quarantined", "n5 warned", separated by commas.
std::vector<NodeStanding> standings(const std::string& text) {
  std::vector<NodeStanding> all;
  for (const std::string& item : split(text, ',')) {
    const auto words = split(trim(item), ' ');
    NodeStanding one{words.front()};
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "lost") one.lost = "why " + one.node;
      one.away = one.away || words[i] == "away";
      one.suspect = one.suspect || words[i] == "suspect";
      one.quarantined = one.quarantined || words[i] == "quarantined";
      one.warned = one.warned || words[i] == "warned";
    }
    all.push_back(std::move(one));
  }
  return all;
}

NodeReport report(std::int64_t milliseconds) {
  NodeReport one{"n1", milliseconds, {}};
  one.facts.run_free = one.facts.memory = one.facts.shm_free = std::uint64_t{1} << 40;
  return one;
}

}  // namespace

TEST_CASE("the best nodes are used, in the allocation's order; among equals the first") {
  const struct {
    const char* nodes;
    unsigned wanted;
    const char* used;
    const char* spare;
    const char* unfit;
  } table[] = {
      {"n0,n1,n2", 2, "n0 n1", "n2", ""},
      {"n0,n1 lost,n2", 2, "n0 n2", "", "n1"},
      {"n0 lost,n1,n2", 2, "n1 n2", "", "n0"},
      {"n0,n1 away,n2", 2, "n0 n2", "", ""},
      {"n0 warned,n1,n2", 2, "n1 n2", "n0", ""},
      {"n0 suspect,n1,n2", 2, "n1 n2", "n0", ""},
      {"n0 quarantined,n1 warned,n2", 2, "n1 n2", "n0", ""},
      {"n0 suspect,n1 quarantined warned,n2", 2, "n1 n2", "n0", ""},
      {"n0 suspect,n1 lost,n2 quarantined", 2, "n0 n2", "", "n1"},
      {"n0,n1 lost,n2 away", 2, "n0", "", "n1"},
      {"n0 lost,n1 lost", 1, "", "", "n0 n1"},
      {"n0,n1,n2,n3", 1, "n0", "n1 n2 n3", ""},
  };

  for (const auto& row : table) {
    CAPTURE(row.nodes);
    const NodeChoice choice = choose_nodes(standings(row.nodes), row.wanted);
    CHECK(join(choice.used, " ") == row.used);
    CHECK(join(choice.spare, " ") == row.spare);
    std::vector<std::string> unfit;
    for (const run::UnfitNode& one : choice.unfit) {
      unfit.push_back(one.node);
      CHECK(one.why == "why " + one.node);
    }
    CHECK(join(unfit, " ") == row.unfit);
  }
}

TEST_CASE("what a report says about its node and its clock") {
  const auto at = [](std::int64_t milliseconds) {
    return std::chrono::system_clock::time_point(std::chrono::milliseconds(milliseconds));
  };
  const NodeDemand demand{"/runs/a", 1, 0, std::nullopt};
  const auto judged = [&](const NodeReport& one) {
    return judge_report(NodeStanding{"n1"}, one, demand, at(1'000'000), at(1'002'000));
  };
  const Judged sound = judged(report(1'001'000));
  CHECK(sound.standing.lost.empty());
  CHECK_FALSE(sound.standing.warned);
  CHECK(sound.notes.empty());
  NodeReport broken = report(1'001'000);
  broken.facts.write_errno = EROFS;
  broken.facts.shm_errno = ENOSPC;
  const Judged unfit = judged(broken);
  CHECK(unfit.standing.lost.find("Read-only") != std::string::npos);
  CHECK(unfit.standing.lost.find("; cannot write in /dev/shm") != std::string::npos);

  const struct {
    std::int64_t clock;
    const char* words;
  } table[] = {
      {999'500, ""}, {1'002'900, ""}, {998'000, "2.0 s behind"}, {1'062'000, "60.0 s ahead of"}};

  for (const auto& row : table) {
    CAPTURE(row.clock);
    const Judged one = judged(report(row.clock));
    CHECK(one.standing.lost.empty());
    CHECK(one.standing.warned == (row.words[0] != '\0'));
    if (!one.notes.empty()) CHECK(one.notes[0].find(row.words) != std::string::npos);
  }
}

TEST_CASE("a report arrives as sent, and nothing else is accepted") {
  const NodeReport one = report(1'700'000'000'123);
  const auto back = parse_node_report(to_text(one));
  REQUIRE(back);
  CHECK(to_text(*back) == to_text(one));
  for (const char* wrong : {"",
                            "[]",
                            "{}",
                            "srun: error: Node n1 is down",
                            R"({"node":"n1","milliseconds":1.5,"facts":{"no_nvml":"","gpus":[]}})",
                            R"({"node":"n1","milliseconds":1,"facts":{}})",
                            R"({"node":1,"milliseconds":1,"facts":{"no_nvml":"","gpus":[]}})"})
    CHECK_FALSE(parse_node_report(wrong).has_value());
}
