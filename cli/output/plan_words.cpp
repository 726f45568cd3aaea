// SPDX-License-Identifier: Apache-2.0
// The sentences of `dtsubmit plan`.
#include "cli/output/plan.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/plan/billed.hpp"
#include "core/run/summary/goodput.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

namespace dts::cli {
namespace {

using forecast::Outlook;
using forecast::Start;

constexpr std::size_t k_longest_text = 400;
constexpr std::size_t k_most_holders = 4;
// The scheduler reports the second in which it was asked, or the next, for a job that starts at
// once.
constexpr std::int64_t k_now = 2;

std::string are(unsigned number) {
  return fmt::format("{} {}", number, number == 1 ? "is" : "are");
}

// "4 of the 6 nodes of partition low are in use, 1 is idle, 1 is away; 3 jobs run in it, 2 wait"
std::string queue_in_words(const forecast::Queue& queue) {
  std::string words = fmt::format("of the {} of partition {}, {} in use, {} idle",
                                  counted(queue.nodes, "node"),
                                  printable(queue.partition, k_longest_text),
                                  are(queue.in_use),
                                  are(queue.idle));
  if (queue.away > 0) words += fmt::format(", {} away", are(queue.away));
  return words + fmt::format("; {} {} in it, {} {}",
                             counted(queue.running, "job"),
                             queue.running == 1 ? "runs" : "run",
                             queue.waiting,
                             queue.waiting == 1 ? "waits" : "wait");
}

std::string holder_in_words(const forecast::Holder& holder, std::int64_t now) {
  const std::string until = holder.end_time > 0 ? "until " + time_in_words(holder.end_time, now) +
                                                      " at the latest, its time limit"
                                                : "and has no time limit";
  return fmt::format("job {} has {} of them {}", holder.job.text(), holder.nodes, until);
}

std::vector<std::string> reasons_to_wait(const PlanReport& report) {
  std::vector<std::string> sentences;
  const auto& queue = report.outlook.queue;
  if (!queue) return sentences;
  sentences.push_back("why it waits: " + queue_in_words(*queue));
  for (std::size_t i = 0; i < std::min(queue->holders.size(), k_most_holders); ++i)
    sentences.push_back(holder_in_words(queue->holders[i], report.now));
  if (queue->holders.size() > k_most_holders)
    sentences.push_back(fmt::format("and {} on these nodes end earlier",
                                    counted(queue->holders.size() - k_most_holders, "other job")));
  if (queue->holders.empty())
    sentences.emplace_back(
        "no job is on the nodes that it gets: they are reserved until then, or it waits for "
        "licences, for few switches or for a later time that it asks for");
  return sentences;
}

std::string preempted_in_words(const std::vector<JobId>& jobs) {
  std::vector<std::string> names;
  for (const JobId& job : jobs) names.push_back(job.text());
  return fmt::format("{} would be preempted for it: {}",
                     counted(jobs.size(), "job"),
                     printable(join(names, ", "), k_longest_text));
}

// "2 of these nodes are powered down: the program begins when they are up, up to 2 min later"
std::string power_in_words(const Outlook& outlook) {
  std::string words =
      fmt::format("{} of these nodes {} powered down: the program begins when {} up",
                  outlook.powered_down,
                  outlook.powered_down == 1 ? "is" : "are",
                  outlook.powered_down == 1 ? "it is" : "they are");
  if (outlook.power_up.count() > 0)
    words += fmt::format(", up to {} later", run::duration_words(outlook.power_up));
  return words;
}

std::string later_in_words(std::int64_t start, std::int64_t now) {
  if (start == 0) return "unknown, as it waits for what has no foreseeable end; it would run";
  return fmt::format("at {} (in {})",
                     time_in_words(start, now),
                     run::duration_words(std::chrono::seconds(start - now)));
}

std::vector<std::string> expected_in_words(const PlanReport& report) {
  const sched::Expected& expected = report.outlook.start.expected;
  const bool is_now = expected.start_time > 0 && expected.start_time - report.now <= k_now;
  std::string first = is_now ? "now" : later_in_words(expected.start_time, report.now);
  if (!expected.nodes.empty()) first += " on " + printable(expected.nodes, k_longest_text);
  if (!expected.partition.empty())
    first += " of partition " + printable(expected.partition, k_longest_text);
  if (expected.processors > 0) first += ", with " + counted(expected.processors, "processor");
  std::vector<std::string> sentences{first};
  if (report.outlook.powered_down > 0) sentences.push_back(power_in_words(report.outlook));
  if (!expected.preempted.empty()) sentences.push_back(preempted_in_words(expected.preempted));
  if (!is_now)
    for (std::string& reason : reasons_to_wait(report)) sentences.push_back(std::move(reason));
  const auto& queue = report.outlook.queue;
  if (queue && queue->waiting > 0 && !report.phrases.forecast.empty())
    sentences.push_back(fmt::format(
        "{} in this partition: {}",
        queue->waiting == 1 ? "1 job waits" : fmt::format("{} jobs wait", queue->waiting),
        report.phrases.forecast));
  return sentences;
}

std::string term_in_words(const forecast::Term& term) {
  return fmt::format(
      "{} {} x {}", term.what, amount_in_words(term.amount), amount_in_words(term.weight));
}

// "the larger of CPU 32 x 1 = 32 and GPU 4 x 8 = 32"
std::string formula_of(const forecast::Cost& cost) {
  std::vector<std::string> largest, added;
  for (const forecast::Term& term : cost.terms)
    (plan::is_added(cost.rule, term.of) ? added : largest).push_back(term_in_words(term));
  if (cost.terms.empty()) return "nothing in it has a weight";
  if (largest.size() < 2) {
    largest.insert(largest.end(), added.begin(), added.end());
    return join(largest, " + ");
  }
  std::string words = "the largest of " + join(largest, ", ");
  if (!added.empty()) words += ", plus " + join(added, " + ");
  return words;
}

}  // namespace

std::string time_in_words(std::int64_t time, std::int64_t now) {
  const std::time_t when = time;
  const std::time_t today = now;
  std::tm parts{};
  std::tm of_today{};
  if (::localtime_r(&when, &parts) == nullptr || ::localtime_r(&today, &of_today) == nullptr)
    return std::to_string(time);
  const bool same_day = parts.tm_yday == of_today.tm_yday && parts.tm_year == of_today.tm_year;
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M", &parts);
  return text.data();
}

std::vector<std::string> start_in_words(const PlanReport& report) {
  const Start& start = report.outlook.start;
  if (start.answer == Start::Answer::expected) return expected_in_words(report);
  const bool never = start.answer == Start::Answer::never;
  std::vector<std::string> sentences;
  for (const std::string& line : split(start.why, '\n'))
    sentences.push_back(printable(line, 4 * k_longest_text));
  sentences.front() =
      (never ? "never, as the request and the site are now: " : "not known: ") + sentences.front();
  if (!start.hint.empty())
    sentences.push_back("help: " + printable(start.hint, 4 * k_longest_text));
  if (never && report.outlook.queue) sentences.push_back(queue_in_words(*report.outlook.queue));
  return sentences;
}

std::string cost_in_words(const PlanReport& report) {
  const auto& cost = report.outlook.cost;
  if (!cost) return "not known: the site is not known here";
  std::string words =
      fmt::format("{} an hour: {}", counted(cost->units, "billing unit"), formula_of(*cost));
  if (const auto total = cost->total())
    words +=
        fmt::format("; {} for {}",
                    amount_in_words(*total),
                    run::duration_words(std::chrono::seconds(std::llround(*cost->hours * 3600))));
  else
    words += "; no time limit is known, so there is no total";
  if (report.elements > 0)
    words += fmt::format("; each of {}", counted(report.elements, "element"));
  if (cost->is_by_default)
    words += " (the site sets no weights: each processor counts one)";
  else if (!report.phrases.billing.empty())
    words += fmt::format(" ({})", report.phrases.billing);
  for (const std::string& missing : cost->not_counted)
    words += "; not counted: " + printable(missing, k_longest_text);
  return words;
}

std::string goodput_in_words(const Outlook& outlook) {
  if (!outlook.goodput) return "not known: such a run cannot be simulated";
  const auto& [model, estimate, is_of_limit] = *outlook.goodput;
  const reliability::Failures& failures = model.failures;
  std::string words =
      fmt::format("{} of {}{} is computing that counts (+- {}, 95 %)",
                  share_in_words(estimate.goodput),
                  run::duration_words(std::chrono::seconds(std::llround(model.wall.count()))),
                  is_of_limit ? "" : ", as no limit is known,",
                  share_in_words(estimate.goodput_error));
  words += fmt::format("; a save of {} every {}{}{}",
                       format_duration(model.policy.save),
                       format_duration(estimate.interval),
                       model.policy.checkpoint_every ? "" : " (Daly 2006)",
                       estimate.interval > model.wall ? ", so none before the end" : "");
  words += fmt::format("; assumed: a node fails {} times in 1000 days, {} once in {}",
                       amount_in_words(failures.node_rate),
                       model.nodes == 1 ? "which is" : fmt::format("{} of them", model.nodes),
                       format_duration(reliability::mean_time_to_failure(model)));
  if (failures.preemptions_per_day == 0) words += ", and there are no preemptions";
  return words + " (--assume changes that, dtsubmit-simulate(1))";
}

std::string amount_in_words(double amount) {
  std::string text = fmt::format("{:.3f}", amount);
  if (amount != 0 && std::abs(amount) < 0.001) return fmt::format("{:.3g}", amount);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string share_in_words(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

}  // namespace dts::cli
