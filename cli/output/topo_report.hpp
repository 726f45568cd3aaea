// SPDX-License-Identifier: Apache-2.0
// Output of `dtsubmit topo`. Pure.
#pragma once

#include "cli/output/text_block.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/topo/topology.hpp"

#include <string>
#include <vector>

namespace dts::cli {

struct PolicyScore {
  std::string policy;  // "compact"
  plan::BindingScore score;
};

// A node, its ranks' bindings, and the alternatives.
struct TopoReport {
  std::string machine;  // "this machine", or the file it was read from
  std::string policy;   // its name: "auto", "map"
  std::string bind;     // as the user typed it: "map:0-3;4-7"
  topo::NodeTopology node;
  std::vector<unsigned> gpus;  // of the job, as in BindRequest::gpus
  plan::NodeBinding binding;
  std::vector<PolicyScore> policies;  // for comparison, including the one in use
};

// One component of a score.
struct Metric {
  const char* key;    // in JSON
  const char* words;  // for the user
  double (*of)(const plan::BindingScore&);
  bool whole;  // a count, otherwise a mean
};

// All metrics, in the order in which `auto` optimises them.
[[nodiscard]] const std::vector<Metric>& metrics();

// "3", or "0.50" for a mean.
[[nodiscard]] std::string in_words(const Metric& metric, const plan::BindingScore& score);

// Whether any of them is nonzero.
[[nodiscard]] bool is_telling(const Metric& metric, const std::vector<PolicyScore>& scores);

// A rank's row in the tables.
struct RankRow {
  std::string rank, home, annex, gpus, nic;  // CPUs as lists, "-" for none
  // Distance of `home` and, if different, of all the rank's cores: "0.00 (all 0.50)"
  std::string distance;
  std::string path;  // topo::Path to each adapter, only one if all are equal; "-" for none
};

[[nodiscard]] std::vector<RankRow> rank_rows(const TopoReport& report);

// "2 packages, 8 NUMA nodes, 128 cores (256 CPUs), 8 GPUs, 4 NICs: this machine"
[[nodiscard]] std::string summary(const TopoReport& report);

// "8 ranks, --bind auto"
[[nodiscard]] std::string request_in_words(const TopoReport& report);

// A list in lines of at most `width` columns, broken after commas; within an entry only if it is
// longer than a line.
[[nodiscard]] std::vector<std::string> wrapped_list(const std::string& list, std::size_t width);

// How to treat lists wider than the table: wrap them in their column, or keep one line for
// programs.
enum class Lists { wrapped, whole };

// For a terminal with this number of columns: picture, ranks, reasons, warnings, and scores.
[[nodiscard]] std::string to_text(const TopoReport& report,
                                  std::size_t columns,
                                  const TextOptions& look,
                                  Lists lists = Lists::wrapped);

// One document, schema dtsubmit/topo/1.
[[nodiscard]] std::string to_json(const TopoReport& report);

// A standalone picture (SVG 1.1 with the style rules of CSS 2.1, dark if the viewer's colour scheme
// is), with tooltips. The same bytes for the same report; at most 1600 wide.
[[nodiscard]] std::string to_svg(const TopoReport& report);

// The nodes, one below another; at least one.
[[nodiscard]] std::string to_svg(const std::vector<TopoReport>& reports);

}  // namespace dts::cli
