// SPDX-License-Identifier: Apache-2.0
// The report of `dtsubmit check`: for a terminal, one line, JSON and a page. Pure.
#pragma once

#include "core/check/verdict.hpp"

#include <string>

namespace dts::cli {

struct CheckReport {
  check::Facts facts;
  check::Verdict verdict;
  std::string document;  // the text of check.json
  std::string again;     // of a second measurement; empty: none
  std::string cluster;
  std::string run;       // its run directory; empty: none
  std::string baseline;  // when that was measured; empty: none was compared
};

// From this share of the processors' time on, what other programs had on a node is shown.
inline constexpr double k_noteworthy = 0.1;

[[nodiscard]] bool has_busy_node(const check::Verdict& verdict);

struct CheckLook {
  unsigned columns = 80;
  bool colour = false;
};

[[nodiscard]] std::string to_text(const CheckReport& report, const CheckLook& look);

// "n1: fit (...)", or the first fault and how many there are.
[[nodiscard]] std::string to_line(const CheckReport& report);

// One document of schema dtsubmit/check/1: facts and verdicts.
[[nodiscard]] std::string to_json(const CheckReport& report);

// A page of HTML 5 with nothing outside of it and no scripts.
[[nodiscard]] std::string to_html(const CheckReport& report);

// "4 nodes, 6 links: all fit", "2 of 4 nodes and 1 of 6 links are unfit".
[[nodiscard]] std::string headline(const CheckReport& report);

// How fast a link is beside the median of all: 1, or less if it is slower; nullopt if that was not
// measured.
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
