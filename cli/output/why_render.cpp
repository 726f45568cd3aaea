// SPDX-License-Identifier: Apache-2.0
// Renders the answer of `dtsubmit why` as one screen and as JSON.
#include "cli/output/why.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dts::cli {
namespace {

constexpr std::size_t k_most_attempts = 4;
constexpr std::size_t k_most_lines = 10;
constexpr std::size_t k_most_slow = 3;           // ranks per attempt
constexpr std::size_t k_longest_log_line = 160;  // of a line from an external source
constexpr std::size_t k_longest_newest = 800;    // of the newest attempt, whose end may advise

std::string clipped(const std::string& line) {
  return printable(line, k_longest_log_line);
}

std::string newest_clipped(const std::string& line) {
  return printable(line, k_longest_newest);
}

std::string attempts_text(const Explanation& why, const RunFacts& known) {
  std::string text;
  const std::size_t all = why.attempts.size();
  const std::size_t first = all > k_most_attempts ? all - k_most_attempts : 0;
  if (first > 0)
    text += fmt::format("{} earlier attempts: dtsubmit status {}\n", first, known.name);
  for (std::size_t i = first; i < all; ++i) {
    const AttemptExplanation& attempt = why.attempts[i];
    const auto shown = i + 1 == all ? newest_clipped : clipped;
    text += attempt.head + "\n";
    for (std::size_t j = 0; j < std::min(attempt.slow.size(), k_most_slow); ++j)
      text += "  " + clipped(attempt.slow[j]) + "\n";
    if (!attempt.cause.empty()) text += "  " + shown(attempt.cause) + "\n";
    if (!attempt.then.empty()) text += "  then " + shown(attempt.then) + "\n";
    if (!attempt.continued.empty()) text += "  continued: " + clipped(attempt.continued) + "\n";
  }
  return text;
}

std::string words_text(const LastWords& words) {
  std::string text = fmt::format("the last lines of {} ({}):\n", words.whose, words.path);
  const std::size_t skipped = words.lines.size() - std::min(words.lines.size(), k_most_lines);
  for (std::size_t i = skipped; i < words.lines.size(); ++i)
    text += "  " + clipped(words.lines[i]) + "\n";
  return text;
}

nlohmann::ordered_json attempt_json(const AttemptExplanation& told,
                                    const run::AttemptSummary& attempt,
                                    const RunFacts& known) {
  nlohmann::ordered_json object{{"attempt", told.number},
                                {"cause", attempt.cause.name()},
                                {"detail", attempt.detail},
                                {"rank", attempt.rank ? static_cast<int>(*attempt.rank) : -1},
                                {"node", attempt.node},
                                {"stragglers", told.slow},
                                {"decision", attempt.decision.name()},
                                {"reason", attempt.reason},
                                {"continued", attempt.continued}};
  const auto words = known.last_words.find(told.number);
  if (words != known.last_words.end())
    object["last_lines"] = {{"whose", words->second.whose},
                            {"path", words->second.path},
                            {"lines", words->second.lines}};
  return object;
}

}  // namespace

std::string ending_text(const Explanation& why, const RunFacts& known) {
  std::string text = "---\n";
  for (const std::string& sentence : why.answer) text += sentence + "\n";
  if (!known.summary.attempts.empty())
    for (const std::string& warning : known.summary.attempts.back().warnings)
      text += fmt::format("warning: {}\n", warning);
  if (why.standing == Standing::done) return text;
  if (!why.attempts.empty() && !why.attempts.back().cause.empty())
    text += newest_clipped(why.attempts.back().cause) + "\n";
  if (why.last_words) text += words_text(*why.last_words);
  for (const std::string& step : why.next) text += fmt::format("next: {}\n", step);
  return text + fmt::format("more: dtsubmit why {}\n", known.name);
}

std::string to_text(const Explanation& why, const RunFacts& known) {
  std::string text;
  for (const std::string& sentence : why.answer) text += sentence + "\n";
  if (!why.attempts.empty()) text += "\n" + attempts_text(why, known);
  if (why.last_words) text += "\n" + words_text(*why.last_words);
  std::string budgets;
  for (const Budget& budget : why.budgets)
    budgets += fmt::format(
        "{}{} {} of {}", budgets.empty() ? "" : ", ", budget.kind, budget.used, budget.most);
  if (!budgets.empty()) text += fmt::format("\nbudgets used: {}\n", budgets);
  if (!why.next.empty()) text += "\n";
  for (const std::string& step : why.next) text += fmt::format("next: {}\n", step);
  return text;
}

std::string to_json(const Explanation& why, const RunFacts& known) {
  nlohmann::ordered_json document{
      {"schema", "dtsubmit/why/1"},
      {"run_directory", known.run_directory},
      {"job", known.summary.job},
      {"standing", to_string(why.standing)},
      {"scheduler_state", known.job ? sched::to_string(known.job->state) : ""},
      {"scheduler_reason", known.job ? known.job->reason : ""},
      {"answer", why.answer},
      {"attempts", nlohmann::ordered_json::array()},
      {"budgets", nlohmann::ordered_json::array()},
      {"next", why.next}};
  for (std::size_t i = 0; i < why.attempts.size(); ++i)
    document["attempts"].push_back(attempt_json(why.attempts[i], known.summary.attempts[i], known));
  for (const Budget& budget : why.budgets)
    document["budgets"].push_back(
        {{"kind", budget.kind}, {"used", budget.used}, {"most", budget.most}});
  return json_text(document);
}

}  // namespace dts::cli
