// SPDX-License-Identifier: Apache-2.0
// How the ranks of an attempt are bound. Equally bound ranks form one group, so that a thousand
// ranks take a few lines. Written to attempt-<k>/binding.json.
#pragma once

#include "core/launch/binding/judge_binding.hpp"
#include "core/run/directory/run_directory.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// What the plan gives one rank, and what the rank read back.
struct RankBound {
  unsigned rank = 0;
  std::string node;
  PlannedBinding planned;
  BoundState found;
};

struct BindingGroup {
  std::vector<unsigned> ranks;     // ascending
  std::vector<std::string> nodes;  // in the order of their lowest rank
  PlannedBinding planned;
  BoundState found;                      // of the group's first rank
  std::vector<BindingFinding> findings;  // each with the largest number of threads of any rank
  unsigned fewest_threads = 0;           // smallest number of threads in any of the programs
  unsigned most_threads = 0;

  bool operator==(const BindingGroup&) const = default;
};

struct BindingReport {
  unsigned attempt = 1;
  unsigned number = 1;   // of this report within its attempt
  std::string time;      // ISO 8601 UTC
  bool settled = false;  // read after programs had run for a while and started their threads
  std::vector<BindingGroup> groups;

  bool operator==(const BindingReport&) const = default;

  [[nodiscard]] bool has_mismatch() const;
};

// Pure. Ranks with equal plans, masks, policies and findings are one group.
[[nodiscard]] std::vector<BindingGroup> group_by_binding(const std::vector<RankBound>& ranks);

// "ranks 0-992:8 of n[0-124]": numbers that are 8 apart.
[[nodiscard]] std::string who(const BindingGroup& group);

// One line per group, "ranks 0-3 of n[0-1]: cores 0-7 as planned, memory bind 0". If there are very
// many groups, those with findings come first, and the last line has the number of groups omitted.
[[nodiscard]] std::vector<std::string> in_lines(const BindingReport& report);

// Schema dtsubmit/binding/1, indented. from_json() is the inverse: Errc::invalid for anything else.
[[nodiscard]] std::string to_json(const BindingReport& report);
[[nodiscard]] Result<BindingReport> binding_report_from(std::string_view text);

// Writes attempt-<k>/binding.json, replacing the previous report.
[[nodiscard]] Result<void> write_binding(const run::RunDirectory& run, const BindingReport& report);

// Errc::not_found if the attempt has not reported anything yet.
[[nodiscard]] Result<BindingReport> read_binding(const run::RunDirectory& run, unsigned attempt);

}  // namespace dts::launch
