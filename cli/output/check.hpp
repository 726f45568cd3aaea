// SPDX-License-Identifier: Apache-2.0
// The report of `dtsubmit check`: for a terminal, one line, JSON and a page. Pure.
#pragma once

#include "core/check/verdict.hpp"

#include <string>

namespace dts::cli {

struct CheckReport {
  check::Facts facts;
  check::Verdict verdict;
  std::string document;  // text of check.json
  std::string again;     // text of a second measurement's check.json; empty: none
  std::string cluster;
  std::string run;       // its run directory; empty: none
  std::string baseline;  // when the baseline was measured; empty: no comparison
};

// Other programs' share of a node's processor time is shown from this value on.
inline constexpr double k_noteworthy = 0.1;

[[nodiscard]] bool has_busy_node(const check::Verdict& verdict);

struct CheckRenderOptions {
  unsigned columns = 80;
  bool colour = false;
};

[[nodiscard]] std::string to_text(const CheckReport& report, const CheckRenderOptions& look);

// "n1: fit (...)", or the first fault and the number of faults.
[[nodiscard]] std::string to_line(const CheckReport& report);

// One document of schema dtsubmit/check/1: facts and verdicts.
[[nodiscard]] std::string to_json(const CheckReport& report);

// An HTML 5 page that needs no other files and no scripts.
[[nodiscard]] std::string to_html(const CheckReport& report);

// "4 nodes, 6 links: all fit", "2 of 4 nodes and 1 of 6 links are unfit".
[[nodiscard]] std::string headline(const CheckReport& report);

// The speed of a link relative to the median of all links: 1, or less if it is slower; nullopt if
// it was not measured.
enum class LinkSpeed { bandwidth, latency };

class LinkSpeeds {
 public:
  LinkSpeeds(const check::Facts& facts, LinkSpeed which);

  [[nodiscard]] bool any() const { return median_ > 0; }

  [[nodiscard]] double median() const { return median_; }

  [[nodiscard]] std::optional<double> of(const check::Pair& pair) const;

 private:
  std::optional<double> check::Pair::*value_;
  bool higher_;
  double median_ = 0;
};

}  // namespace dts::cli
