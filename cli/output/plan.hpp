// SPDX-License-Identifier: Apache-2.0
// Output of `dtsubmit plan`. Pure, except for the local time zone.
#pragma once

#include "cli/output/text_block.hpp"
#include "cli/output/topo_report.hpp"
#include "core/forecast/outlook.hpp"
#include "core/sched/phrases.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

// An option's value in the plan, and what decided it.
struct PlannedOption {
  std::string name;   // "ntasks-per-node"
  std::string value;  // "8"
  std::string who;    // "--ntasks-per-node", "job.toml:3:9", or the reason for our choice
};

struct PlannedPart {
  std::string name;  // "step `train`"; for a job without parts: "the job"
  plan::Plan plan;
};

// The outlook for another value of an option.
struct WhatIf {
  std::string name;   // "nodes"
  std::string value;  // "8"
  std::optional<forecast::Outlook> outlook;
  std::string problem;  // if there is no outlook: why such a job is impossible
};

struct PlanReport {
  std::string way;             // how the scheduler was reached; empty: it was not
  sched::Phrases phrases;      // the scheduler's own terms
  std::int64_t now = 0;        // when the scheduler was asked, Unix seconds
  std::uint64_t elements = 0;  // in its array or sweep; 0: it has none
  plan::Plan plan;             // the whole job's
  std::vector<PlannedPart> parts;
  std::string sums;  // "16 ranks, 16 GPUs, 128 cores; 65536 MiB of memory a node"
  std::vector<PlannedOption> options;
  forecast::Outlook outlook;
  std::vector<TopoReport> nodes;  // one per part; empty: their topology is not known
  std::vector<WhatIf> what_if;
};

// The report for a terminal with this number of columns.
[[nodiscard]] std::string to_text(const PlanReport& report,
                                  std::size_t columns,
                                  const TextOptions& look);

// One document, schema dtsubmit/forecast/1.
[[nodiscard]] std::string to_json(const PlanReport& report);

// --- sentences and numbers that the text and its tables share
// --------------------------------------

// "now", "14:05:10" of the same day, or "2026-11-27 14:05", in the local time zone.
[[nodiscard]] std::string time_in_words(std::int64_t time, std::int64_t now);

// When and where it starts, and why not now: one sentence each.
[[nodiscard]] std::vector<std::string> start_in_words(const PlanReport& report);
[[nodiscard]] std::string cost_in_words(const PlanReport& report);
[[nodiscard]] std::string goodput_in_words(const forecast::Outlook& outlook);

// "256" or "2.5"
[[nodiscard]] std::string amount_in_words(double amount);
// "98.7 %"
[[nodiscard]] std::string share_in_words(double share);

}  // namespace dts::cli
