// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/sweep_commands.hpp"

#include "cli/commands/held_signals.hpp"
#include "cli/commands/interruptible_wait.hpp"
#include "cli/commands/known_job.hpp"
#include "cli/commands/sweep_view.hpp"
#include "cli/output/report.hpp"
#include "core/base/files/files.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/launch/job/chain.hpp"
#include "core/launch/job/element.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/ledger/history.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

namespace dts::cli {
namespace {

constexpr std::size_t k_widest_values = 60;
constexpr std::chrono::seconds k_first_look{2};
constexpr std::chrono::seconds k_slowest_look{30};

std::int64_t newest_step_of(const ElementView& seen) {
  std::int64_t step = -1;
  for (const run::AttemptSummary& attempt : seen.known.summary.attempts)
    if (attempt.last_step >= 0) step = attempt.last_step;
  return step;
}

std::string number_text(const std::optional<double>& number) {
  return number ? fmt::format("{:.6g}", *number) : "-";
}

nlohmann::ordered_json to_json(const SweepView& view, const ElementView& seen) {
  auto values = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < view.sweep.names.size(); ++i)
    values[view.sweep.names[i]] = seen.element->values[i];
  nlohmann::ordered_json row{{"index", seen.element->index},
                             {"state", to_string(seen.standing)},
                             {"job", seen.known.summary.job},
                             {"run_directory", seen.run.path},
                             {"attempts", seen.known.summary.attempts.size()},
                             {"step", newest_step_of(seen)},
                             {"total_steps", seen.known.summary.total_steps},
                             {"parameters", std::move(values)},
                             {"metric", nullptr}};
  if (seen.number) row["metric"] = *seen.number;
  return row;
}

void print_view_json(const SweepView& view) {
  nlohmann::ordered_json document{{"schema", "dtsubmit/sweep-status/1"},
                                  {"run_directory", view.run.path},
                                  {"job", view.array},
                                  {"state", to_string(view.standing())},
                                  {"metric", view.metric.name},
                                  {"better", view.metric.lowest ? "min" : "max"},
                                  {"best", nullptr},
                                  {"warning", view.trouble}};
  if (const ElementView* best = view.best()) document["best"] = best->element->index;
  document["elements"] = nlohmann::ordered_json::array();
  for (const ElementView& seen : view.elements) document["elements"].push_back(to_json(view, seen));
  fmt::print("{}", json_text(document));
}

void print_view(const SweepView& view) {
  fmt::print("sweep   {}\n", view.run.path);
  fmt::print("job     {}, {}: {}\n",
             view.array.empty() ? "none is known" : view.array.text(),
             counted(view.elements.size(), "element"),
             view.counts());
  if (!view.trouble.empty()) fmt::print("warning {}\n", view.trouble);
  fmt::print("\n{:>7}  {:<9} {:>11} {:>8} {:>8} {:>12}  {}\n",
             "ELEMENT",
             "STATE",
             "JOB",
             "ATTEMPTS",
             "STEP",
             view.best() != nullptr ? view.metric.name : "METRIC",
             view.sweep.names.empty() ? "" : "PARAMETERS");
  for (const ElementView& seen : view.elements) {
    const std::int64_t step = newest_step_of(seen);
    fmt::print("{:>7}  {:<9} {:>11} {:>8} {:>8} {:>12}  {}\n",
               seen.element->index,
               to_string(seen.standing),
               seen.known.summary.job.empty() ? "-" : seen.known.summary.job.text(),
               seen.known.summary.attempts.size(),
               step < 0 ? "-" : std::to_string(step),
               number_text(seen.number),
               printable(values_of(view.sweep, *seen.element), k_widest_values));
  }
  if (const ElementView* best = view.best())
    fmt::print("\nbest  {}: {} {} ({})\n",
               best->element->index,
               view.metric.name,
               number_text(best->number),
               view.metric.lowest ? "lowest" : "highest");
}

// What ended an element, and why it was not continued.
std::string last_words_of(const ElementView& seen) {
  const run::Event* end = run::final_decision(seen.known.events);
  const auto& attempts = seen.known.summary.attempts;
  if (end != nullptr) {
    const std::string& decided = end->as<run::Decided>()->detail;
    const std::string ended = attempts.empty() ? "" : attempts.back().detail;
    return ended.empty() || ended == decided ? decided : ended + "; " + decided;
  }
  if (seen.known.job) return seen.known.job->explanation;
  return seen.known.forgotten ? "the scheduler no longer knows its job" : seen.known.no_job;
}

bool is_wanted(const ElementView& seen, ElementFilter which) {
  if (which == ElementFilter::alive) return !seen.is_over();
  return seen.is_over() && seen.standing != Standing::done;
}

}  // namespace

Result<int> sweep_status(const run::RunDirectory& run, const std::string& metric, bool json) {
  DTS_ASSIGN(const SweepView view, look_at_sweep(run, metric));
  json ? print_view_json(view) : print_view(view);
  return 0;
}

Result<int> sweep_why(const run::RunDirectory& run, bool json) {
  DTS_ASSIGN(const SweepView view, look_at_sweep(run));
  if (json) {
    print_view_json(view);
    return 0;
  }
  fmt::print("The sweep has {}: {}.\n", counted(view.elements.size(), "element"), view.counts());
  if (!view.trouble.empty()) fmt::print("The scheduler cannot be asked: {}.\n", view.trouble);
  const ElementView* waiting = nullptr;
  const ElementView* failed = nullptr;
  for (const ElementView& seen : view.elements) {
    if (waiting == nullptr && seen.standing == Standing::pending) waiting = &seen;
    if (!is_wanted(seen, ElementFilter::unfinished)) continue;
    if (failed == nullptr) failed = &seen;
    fmt::print("  element {} ({}): {}\n",
               seen.element->index,
               to_string(seen.standing),
               last_words_of(seen));
  }
  if (waiting != nullptr && waiting->known.job && !waiting->known.job->explanation.empty())
    fmt::print("Element {} waits: {}.\n", waiting->element->index, waiting->known.job->explanation);
  const ElementView* shown = failed != nullptr ? failed : waiting;
  fmt::print("One element: dtsubmit why {}/{}\n",
             shell_quote(run.path),
             (shown != nullptr ? *shown : view.elements.front()).element->index);
  return 0;
}

Result<Ordered> cancel_sweep(const run::RunDirectory& run) {
  DTS_ASSIGN(const SweepView view, look_at_sweep(run));
  if (view.array.empty())
    return fail(Errc::not_found, run.path + " has no job: its submission did not succeed");
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  DTS_TRY(check_cluster(*scheduler, run, view.array));
  const HeldSignals whole;
  for (const ElementView& seen : view.elements)
    if (!seen.is_over()) DTS_TRY(report_before_signal(launch::cut_chain(*scheduler, seen.run)));
  DTS_ASSIGN(const bool was_there,
             report_before_signal(
                 launch::cancel_job_of_run(*scheduler, run, view.array, interactive_patience())));
  if (was_there) record_cancelled_in_queue(run, view.array, "cancel");
  for (const ElementView& seen : view.elements) {
    const bool alone =
        seen.known.summary.job != sweep::job_of_element(view.array, seen.element->index);
    if (alone && !seen.is_over())
      DTS_TRY(report_before_signal(launch::cancel_job_of_run(
          *scheduler, seen.run, seen.known.summary.job, interactive_patience())));
    if (!seen.is_over() && exists(seen.run.path))
      record_cancelled_in_queue(seen.run, seen.known.summary.job, "cancel");
  }
  return Ordered{
      .run_directory = run.path,
      .job = view.array,
      .result = "cancelled",
      .text = fmt::format("cancelled array {} with {}; to continue it later: dtsubmit requeue {}\n",
                          view.array,
                          counted(view.elements.size(), "element"),
                          view.array)};
}

namespace {

Result<int> order_elements(const run::RunDirectory& run,
                           ElementFilter which,
                           OrderReport& orders,
                           const std::function<Result<int>(const run::RunDirectory&)>& order) {
  DTS_ASSIGN(const SweepView view, look_at_sweep(run));
  Result<int> worst = 0;
  std::size_t ordered = 0;
  for (const ElementView& seen : view.elements) {
    if (!is_wanted(seen, which)) continue;
    ++ordered;
    auto done = launch::open_element(view.run, view.sweep, seen.element->index, view.array)
                    .and_then([&](const run::RunDirectory& element) { return order(element); });
    if (done && *done == 0) continue;
    if (!done)
      orders.add_failed({.run_directory = seen.run.path, .job = seen.known.summary.job},
                        done.error());
    if (worst && *worst == 0)
      worst = std::move(done);
    else if (!done)
      report(done.error());
  }
  if (ordered == 0 && !view.trouble.empty()) return fail(Errc::unreachable, view.trouble);
  if (ordered == 0)
    orders.note(which == ElementFilter::alive ? "all elements are over; nothing is left to stop\n"
                                              : "no element ended without being done\n");
  return worst;
}

}  // namespace

Result<int> order_each(const run::RunDirectory& run,
                       ElementFilter which,
                       OrderReport& report,
                       const std::function<Result<int>(const run::RunDirectory&)>& order) {
  const bool is_sweep = launch::is_sweep(run);
  auto done = is_sweep ? order_elements(run, which, report, order) : order(run);
  if (!is_sweep && !done)
    report.add_failed({.run_directory = run.path, .job = job_of(run).value_or(JobId())},
                      done.error());
  report.finish();
  return done;
}

Result<int> follow_sweep(const run::RunDirectory& run, const std::string& on_interrupt) {
  const InterruptibleWait wait(on_interrupt);
  std::string told;
  for (std::chrono::seconds pause = k_first_look;; pause = std::min(pause * 2, k_slowest_look)) {
    DTS_ASSIGN(const SweepView view, look_at_sweep(run));
    if (std::string now = view.counts(); now != told) {
      tell("{}\n", now);
      told = std::move(now);
      pause = k_first_look;
    }
    if (std::ranges::all_of(view.elements, &ElementView::is_over)) {
      for (const ElementView& seen : view.elements) {
        if (seen.standing == Standing::done) continue;
        const run::Event* end = run::final_decision(seen.known.events);
        const int code = end != nullptr ? end->as<run::Decided>()->exit_code.value_or(1) : 1;
        return code == 0 ? 1 : code;
      }
      return 0;
    }
    wait.pause(pause);
  }
}

tl::unexpected<Error> choose_element(const run::RunDirectory& run, const std::string& command) {
  return fail(
      Errc::invalid,
      run.path + " is a sweep",
      fmt::format("name one of its elements, e.g. dtsubmit {} {}/{}",
                  command,
                  shell_quote(run.path),
                  launch::read_sweep(run)
                      .map([](const sweep::Sweep& sweep) { return sweep.elements.front().index; })
                      .value_or(0)));
}

}  // namespace dts::cli
