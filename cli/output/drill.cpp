// SPDX-License-Identifier: Apache-2.0
#include "cli/output/drill.hpp"

#include "core/base/text/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::cli {
namespace {

std::string back_after(const drill::Report& report) {
  return report.shown.seconds ? fmt::format("{:.1f} s", *report.shown.seconds) : "-";
}

std::string left(const drill::Report& report) {
  return report.shown.left < 0 ? "unknown" : std::to_string(report.shown.left);
}

std::string lost(const drill::Report& report) {
  const std::int64_t steps = report.shown.attempt.steps_lost;
  return steps < 0 ? "unknown" : std::to_string(steps);
}

std::string or_none(const std::string& word) {
  return word.empty() ? "none" : word;
}

// The files kept after a failed drill on a private cluster.
std::string evidence(const drill::Report& report) {
  std::string text;
  if (report.kept)
    text += fmt::format("the run and the logs of the cluster are kept: {}\n", report.run_directory);
  if (!report.why.empty()) text += fmt::format("`dtsubmit why` reported:\n{}", report.why);
  return text;
}

nlohmann::ordered_json one(const drill::Report& report) {
  const run::AttemptSummary& attempt = report.shown.attempt;
  nlohmann::ordered_json entry = {{"fault", drill::facts_of(report.fault).name},
                                  {"verdict", outcome_word(report)},
                                  {"skipped", report.skipped},
                                  {"run_directory", report.run_directory},
                                  {"kept", report.kept},
                                  {"why", report.why},
                                  {"attempt", attempt.number},
                                  {"cause", attempt.cause.name()},
                                  {"decision", attempt.decision.name()},
                                  {"detail", attempt.detail},
                                  {"steps_lost", nullptr},
                                  {"sign_of_life", report.shown.sign},
                                  {"seconds_until_steps", nullptr},
                                  {"processes_left", nullptr},
                                  {"digest", report.digest},
                                  {"undisturbed_digest", report.undisturbed},
                                  {"problems", report.problems}};
  if (attempt.steps_lost >= 0) entry["steps_lost"] = attempt.steps_lost;
  if (report.shown.seconds) entry["seconds_until_steps"] = *report.shown.seconds;
  if (report.shown.left >= 0) entry["processes_left"] = report.shown.left;
  return entry;
}

}  // namespace

const char* outcome_word(const drill::Report& report) {
  if (!report.skipped.empty()) return "skipped";
  return report.problems.empty() ? "ok" : "FAILED";
}

std::string to_text(const drill::Report& report) {
  if (!report.skipped.empty())
    return fmt::format("{}: skipped: {}\n", drill::facts_of(report.fault).name, report.skipped);
  const run::AttemptSummary& attempt = report.shown.attempt;
  std::string text = fmt::format("drill           {}\n", drill::facts_of(report.fault).name);
  text += fmt::format("run             {}, attempt {}\n", report.run_directory, attempt.number);
  text += fmt::format("cause           {}", or_none(attempt.cause.name()));
  text += attempt.detail.empty() ? "\n" : fmt::format(": {}\n", attempt.detail);
  text += fmt::format("decision        {}", or_none(attempt.decision.name()));
  text += attempt.reason.empty() ? "\n" : fmt::format(": {}\n", attempt.reason);
  text += fmt::format("steps lost      {}\n", lost(report));
  const std::string again = report.shown.seconds ? "after " + back_after(report) : "no";
  text += report.shown.sign == "a step"
              ? fmt::format("steps again     {}\n", again)
              : fmt::format("back            {} ({}; the program reports no steps)\n",
                            again,
                            report.shown.sign);
  text += fmt::format("processes left  {}\n", left(report));
  if (!report.digest.empty())
    text += fmt::format("digest          {}\n",
                        report.digest == report.undisturbed
                            ? "that of an undisturbed run"
                            : "different from that of an undisturbed run");
  for (const std::string& problem : report.problems) text += fmt::format("FAILED: {}\n", problem);
  text += evidence(report);
  if (report.problems.empty())
    text += attempt.steps_lost < 0
                ? "ok: it came back as its policy says; what it lost is unknown\n"
                : "ok: it came back as its policy says\n";
  return text;
}

std::string to_table(const std::vector<drill::Report>& reports) {
  std::string text = fmt::format("{:<11} {:<14} {:<9} {:>7}  {:>11}  {:>4}  {}\n",
                                 "FAULT",
                                 "CAUSE",
                                 "DECISION",
                                 "LOST",
                                 "STEPS AFTER",
                                 "LEFT",
                                 "VERDICT");
  for (const drill::Report& report : reports) {
    const run::AttemptSummary& attempt = report.shown.attempt;
    const bool done = report.skipped.empty();
    text += fmt::format("{:<11} {:<14} {:<9} {:>7}  {:>11}  {:>4}  {}\n",
                        drill::facts_of(report.fault).name,
                        done && !attempt.cause.empty() ? attempt.cause.name() : "-",
                        done && !attempt.decision.empty() ? attempt.decision.name() : "-",
                        done ? lost(report) : "-",
                        back_after(report),
                        done ? left(report) : "-",
                        outcome_word(report));
  }
  for (const drill::Report& report : reports) {
    const char* name = drill::facts_of(report.fault).name;
    if (!report.skipped.empty()) text += fmt::format("{}: {}\n", name, report.skipped);
    for (const std::string& problem : report.problems)
      text += fmt::format("{}: {}\n", name, problem);
    text += evidence(report);
  }
  return text;
}

std::string to_json(const std::vector<drill::Report>& reports) {
  nlohmann::ordered_json document = {{"schema", "dtsubmit/drill/1"}};
  document["drills"] = nlohmann::ordered_json::array();
  for (const drill::Report& report : reports) document["drills"].push_back(one(report));
  return json_text(document);
}

}  // namespace dts::cli
