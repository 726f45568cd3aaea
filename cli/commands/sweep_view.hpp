// SPDX-License-Identifier: Apache-2.0
// The current state of a sweep's elements, from one query to the scheduler and the ledgers of the
// elements that have started.
#pragma once

#include "cli/output/why.hpp"
#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/run/summary/metric.hpp"
#include "core/sched/scheduler.hpp"
#include "core/sweep/sweep.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

struct ElementView {
  const sweep::Element* element = nullptr;
  run::RunDirectory run;  // may not exist yet
  RunFacts known;
  Standing standing = Standing::unknown;
  std::optional<double> number;  // value of the metric

  // True if it has ended, for good or not.
  [[nodiscard]] bool is_over() const;
};

struct SweepView {
  run::RunDirectory run;
  sweep::Sweep sweep;
  sched::JobId array{};               // empty: unknown
  std::vector<ElementView> elements;  // by ascending index
  run::Metric metric;
  std::string trouble;  // why the scheduler query failed; empty: it succeeded

  // The element with the best metric; null if none has one.
  [[nodiscard]] const ElementView* best() const;

  // "12 done, 3 running, 5 pending"
  [[nodiscard]] std::string counts() const;

  // The state of the whole sweep: running or pending while any element is, done if all are.
  [[nodiscard]] Standing standing() const;
};

// `metric`: as parse_metric() takes it; empty: the lowest loss, or if there is none the highest
// accuracy.
[[nodiscard]] Result<SweepView> look_at_sweep(const run::RunDirectory& run,
                                              const std::string& metric = {});

// "20 elements, at most 4 at once: lr=0.1 seed=1, ..., lr=0.01 seed=10"
[[nodiscard]] std::string size_of(const sweep::Sweep& sweep);

// "lr=0.1 seed=2"; empty for an array without parameters.
[[nodiscard]] std::string values_of(const sweep::Sweep& sweep, const sweep::Element& element);

}  // namespace dts::cli
