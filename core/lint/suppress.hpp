// SPDX-License-Identifier: Apache-2.0
// Comments that turn rules off: `# dtsubmit: disable=RULE,RULE`, see lint_script(). Pure.
#pragma once

#include "core/lint/rule.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

class Suppressions {
 public:
  // `disabled`: rules that are off for the whole script.
  Suppressions(const Subject& subject, const std::vector<std::string>& disabled);

  [[nodiscard]] bool covers_all_of(std::string_view rule) const;
  [[nodiscard]] bool covers(const Finding& finding) const;

 private:
  struct Region {
    Span span;
    std::set<std::string, std::less<>> rules;
  };

  void read(const Subject& subject, const Span& comment);

  std::set<std::string, std::less<>> everywhere_;
  std::vector<Region> regions_;
};

}  // namespace dts::lint
