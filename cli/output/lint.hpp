// SPDX-License-Identifier: Apache-2.0
// Output of `dtsubmit lint`.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/lint/rule.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

struct LintedFile {
  std::string path;  // as typed
  std::string text;
  std::vector<lint::Finding> findings;
  bool is_fixed = false;  // the file has been rewritten
};

// What determined the release of Slurm to which the rules are applied.
enum class ReleaseFrom { nowhere, option, controller, installed };

struct LintReport {
  std::vector<LintedFile> files;
  std::optional<Release> slurm;
  ReleaseFrom slurm_from = ReleaseFrom::nowhere;

  [[nodiscard]] std::size_t count() const;
};

// Each finding with its line, a caret and advice; the last line counts the findings.
[[nodiscard]] std::string to_text(const LintReport& report, bool in_colour);

// One document, schema dtsubmit/lint/1.
[[nodiscard]] std::string to_json(const LintReport& report);

// One document in the OASIS standard format SARIF 2.1.0, which code hosts read.
[[nodiscard]] std::string to_sarif(const LintReport& report);

// One line per rule.
[[nodiscard]] std::string rules_text();

// The full description of a rule.
[[nodiscard]] std::string rule_text(const lint::Rule& rule);

}  // namespace dts::cli
