// SPDX-License-Identifier: Apache-2.0
// The rules of `dtsubmit lint` and their findings. Plain data.
#pragma once

#include "core/lint/script/subject.hpp"

#include <string>
#include <vector>

namespace dts::lint {

enum class Severity {
  note,     // worth knowing; correct in some scripts
  warning,  // work, time or an error message may be lost
  error,    // sbatch refuses the script, or the job cannot do what it is meant to do
};

// Replaces bytes of the script.
struct Edit {
  Span span;
  std::string text;
};

struct Rule;

struct Finding {
  const Rule* rule = nullptr;
  Span span;
  std::string message;        // one sentence, lower case, no period
  std::string help;           // what to do
  std::vector<Edit> edits;    // do what `help` says, if that is safe without asking
  bool hides_source = false;  // do not show the line, as it has a secret
};

// Collects the findings of one rule.
class Report {
 public:
  explicit Report(const Rule& rule) : rule_(rule) {}

  // If `help` is empty, the rule's own fix is shown.
  Finding& add(Span span, std::string message, std::string help = {}, std::vector<Edit> edits = {});

  [[nodiscard]] std::vector<Finding> take() { return std::move(findings_); }

 private:
  const Rule& rule_;
  std::vector<Finding> findings_;
};

struct Rule {
  const char* id;  // never changes
  Severity severity;
  const char* title;   // a sentence for lists, lower case, no period
  const char* reason;  // why it matters, for the manual page; full sentences
  const char* fix;     // what to do, in a clause
  void (*check)(const Subject& subject, Report& report);
  Release since{};  // the first release of Slurm for which it holds; {}: any
  Release until{};  // the first release for which it no longer holds; {}: none
  bool can_fix = false;
  bool reads_any_text = false;  // also reads text that is no script: job files
  bool reads_lines = false;     // also reads shell lines of job files: needs no #SBATCH lines
  bool needs_release = false;   // not checked if the release is not known
};

// "note", "warning", "error".
[[nodiscard]] const char* to_string(Severity severity);
[[nodiscard]] std::optional<Severity> severity_of(std::string_view word);

// True if the rule holds for the release. If that is not known, true unless the rule needs a
// release.
[[nodiscard]] bool holds_for(const Rule& rule, const std::optional<Release>& slurm);

// All rules, in the order of the manual page. Constant and thread-safe.
[[nodiscard]] const std::vector<Rule>& rules();
[[nodiscard]] const Rule* find_rule(std::string_view id);

// The parts of rules(), one file each.
[[nodiscard]] std::vector<Rule> file_rules();
[[nodiscard]] std::vector<Rule> directive_rules();
[[nodiscard]] std::vector<Rule> option_rules();
[[nodiscard]] std::vector<Rule> size_rules();
[[nodiscard]] std::vector<Rule> log_rules();
[[nodiscard]] std::vector<Rule> return_rules();
[[nodiscard]] std::vector<Rule> signal_rules();
[[nodiscard]] std::vector<Rule> exit_rules();
[[nodiscard]] std::vector<Rule> step_rules();
[[nodiscard]] std::vector<Rule> process_rules();
[[nodiscard]] std::vector<Rule> rendezvous_rules();
[[nodiscard]] std::vector<Rule> gpu_rules();
[[nodiscard]] std::vector<Rule> environment_rules();

}  // namespace dts::lint
