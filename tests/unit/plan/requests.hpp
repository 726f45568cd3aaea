// SPDX-License-Identifier: Apache-2.0
// Requests and a cluster for them.
#pragma once

#include "core/plan/plan.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>

namespace dts::plan {

using std::chrono::seconds;

// Two nodes of 8 GPUs, one of which names their type, and one of 4 in `low` (the default); `cpu`
// has two nodes without.
inline ClusterView cluster() {
  ClusterView view;
  view.nodes = {{"n0", 32, 8, 64000, true, {{"a100", 8}}},
                {"n1", 32, 8, 64000},
                {"g2", 16, 4, 32000},
                {"c0", 64, 0, 64000},
                {"c1", 48, 0, 64000}};
  view.partitions = {{"low", true, {"n0", "n1", "g2"}, seconds(3600)},
                     {"cpu", false, {"c0", "c1"}, seconds::max()}};
  return view;
}

inline spec::JobSpec request(unsigned nodes, std::optional<unsigned> gpus = std::nullopt) {
  spec::JobSpec spec;
  spec.job_name = "train";
  spec.nodes = nodes;
  spec.gpus_per_node = gpus;
  spec.command = {"python3", "train.py"};
  return spec;
}

inline Plan planned(const spec::JobSpec& spec, const ClusterView& view = {}) {
  const auto plan = make_plan(spec, view, "/usr/bin/dttrain");
  if (!plan) FAIL(to_error(plan.error()).message);
  return *plan;
}

inline Diagnostics refused(const spec::JobSpec& spec, const ClusterView& view = {}) {
  const auto plan = make_plan(spec, view, "/usr/bin/dttrain");
  REQUIRE_FALSE(plan);
  return plan.error();
}

inline std::string why(const Plan& plan, const std::string& what) {
  for (const Reason& reason : plan.reasons)
    if (reason.what().rfind(what, 0) == 0) return reason.why;
  return "(no reason)";
}

using dts::tests::contains;

}  // namespace dts::plan
