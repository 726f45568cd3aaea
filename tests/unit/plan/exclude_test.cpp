// SPDX-License-Identifier: Apache-2.0
// Nodes that a job does without, and spare ones.
#include "core/plan/layout/json.hpp"
#include "tests/unit/plan/requests.hpp"

#include <algorithm>

namespace dts::plan {

TEST_CASE("avoided nodes are excluded as long as the job can run without them") {
  const struct {
    const char* what;
    unsigned nodes, spares;
    const char* exclude;               // asked
    std::vector<const char*> avoided;  // those that have been longest first
    std::vector<std::string> down;
    std::vector<std::string> excluded;
    const char* kept;
  } table[] = {
      {"nothing", 1, 0, "", {}, {}, {}, ""},
      {"asked", 1, 0, "n[0-1]", {}, {}, {"n0", "n1"}, ""},
      {"one", 2, 0, "", {"n1"}, {}, {"n1"}, ""},
      {"with a spare", 2, 1, "", {"n1"}, {}, {}, "n1"},
      {"both ways", 1, 0, "n0", {"n1"}, {}, {"n0", "n1"}, ""},
      {"asked already", 1, 0, "n1", {"n1"}, {}, {"n1"}, ""},
      {"the newest first", 2, 0, "", {"n0", "n1"}, {}, {"n1"}, "n0"},
      {"all", 1, 0, "", {"n0", "n1", "g2"}, {}, {"g2", "n1"}, "n0"},
      {"of another partition", 1, 0, "", {"c0"}, {}, {}, ""},
      {"where others are down", 2, 0, "", {"n1"}, {"g2"}, {}, "n1"},
      {"a node that is down costs nothing", 2, 0, "", {"n1"}, {"n1"}, {"n1"}, ""},
  };

  for (const auto& row : table) {
    CAPTURE(row.what);
    ClusterView view = cluster();
    for (const char* name : row.avoided) view.avoided.push_back({name, "in quarantine"});
    for (ClusterView::Node& node : view.nodes)
      node.up = std::find(row.down.begin(), row.down.end(), node.name) == row.down.end();
    spec::JobSpec spec = request(row.nodes);
    spec.spares = row.spares;
    spec.exclude = row.exclude;
    const Plan plan = planned(spec, view);
    CHECK(plan.exclude == row.excluded);
    CHECK(plan.spares == row.spares);
    CHECK(plan.world_size == row.nodes);
    const std::string kept = why(plan, std::string("kept = ") + row.kept);
    CHECK(contains(kept, "the job needs every node") == (row.kept[0] != '\0'));
    const auto back = plan_from_json(to_json(plan));
    REQUIRE(back);
    CHECK(back->exclude == plan.exclude);
    CHECK(back->spares == plan.spares);
  }
}

TEST_CASE("spares and what is excluded count where nodes are too few") {
  spec::JobSpec spec = request(3);
  spec.spares = 1;
  CHECK(contains(refused(spec, cluster())[0].message, "4 nodes requested, but there are 3"));
  spec = request(3);
  spec.exclude = "n1";
  const Diagnostics problems = refused(spec, cluster());
  CHECK(contains(problems[0].message, "there are 2 in partition low without n1"));
  spec = request(2, 8);
  spec.spares = 1;
  CHECK(contains(refused(spec, cluster())[0].message, "only 2 nodes"));
}

}  // namespace dts::plan
