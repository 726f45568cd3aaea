// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/sweep_view.hpp"

#include "cli/commands/known_job.hpp"
#include "core/base/files/files.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/element.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/index/index.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/newest_job.hpp"
#include "core/sched/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace dts::cli {
namespace {

// The jobs of an array, and the jobs that continue single elements.
class ArrayJobs {
 public:
  ArrayJobs(const SweepView& view, std::string& trouble) : array_(view.array), trouble_(trouble) {
    if (array_.empty()) return;
    auto loaded = plugin::load_scheduler();
    if (!loaded) {
      trouble_ = loaded.error().message;
      return;
    }
    scheduler_ = *std::move(loaded);
    auto jobs = sched::find_jobs(*scheduler_, view.run.script());
    if (!jobs) {
      trouble_ = jobs.error().message;
      return;
    }
    for (sched::JobInfo& job : *jobs) take(std::move(job));
    if (!jobs_.empty() || !waiting_.empty()) return;
    if (const auto elsewhere = on_another_cluster(view.run, array_)) trouble_ = elsewhere->message;
  }

  // Fills in the scheduler's record of the element's latest job.
  void ask(RunFacts& known, unsigned index) {
    known.no_job = trouble_;
    if (!trouble_.empty() || known.summary.job.empty()) return;
    known.phrases = scheduler_->phrases();
    if (known.summary.job != sweep::job_of_element(array_, index)) return ask_alone(known);
    if (const auto job = jobs_.find(known.summary.job.text()); job != jobs_.end())
      known.job = job->second;
    else if (std::binary_search(waiting_.begin(), waiting_.end(), index))
      known.job = waits_;
    else
      known.forgotten = true;
  }

 private:
  void take(sched::JobInfo job) {
    if (job.array != array_) return;
    if (!job.tasks.empty()) {
      const auto tasks = parse_array_indices(job.tasks);
      if (tasks) waiting_ = tasks->indices;
      waits_ = std::move(job);
    } else {
      const std::string id = job.id.text();
      jobs_.emplace(id, std::move(job));
    }
  }

  void ask_alone(RunFacts& known) {
    if (const auto read = read_job(*scheduler_, known); !read)
      trouble_ = known.no_job = read.error().message;
  }

  const sched::JobId array_;
  std::string& trouble_;
  std::unique_ptr<sched::Scheduler> scheduler_;
  std::map<std::string, sched::JobInfo> jobs_;  // by their ids
  std::vector<unsigned> waiting_;               // ascending
  sched::JobInfo waits_;                        // the record that all waiting ones share
};

Result<ElementView> look_at_element(const SweepView& view,
                                    const sweep::Element& element,
                                    std::string& metrics) {
  ElementView seen;
  seen.element = &element;
  seen.run = launch::element_directory(view.run, element.index);
  if (exists(seen.run.path)) {
    DTS_ASSIGN(run::Ledger ledger, run::load_ledger(seen.run.ledger()));
    seen.known.events = std::move(ledger.events);
    metrics = run::read_metrics(seen.run);
  }
  seen.known.run_directory = seen.run.path;
  seen.known.summary = run::summarise(seen.known.events, metrics);
  if (seen.known.summary.job.empty() && !view.array.empty())
    seen.known.summary.job = sweep::job_of_element(view.array, element.index);
  seen.known.now = std::time(nullptr);
  return seen;
}

// Compares by the first metric that any element has.
void compare(SweepView& view, const std::vector<std::string>& metrics, const run::Metric& metric) {
  view.metric = metric;
  for (std::size_t i = 0; i < view.elements.size(); ++i)
    view.elements[i].number = run::last_number(metrics[i], metric.name);
}

// `is_cancelled`: the whole array was, in the queue.
Standing settled(const ElementView& seen, bool is_cancelled) {
  // Without a run directory, nothing has started.
  if (seen.known.events.empty() && seen.known.job)
    return sched::is_terminal(seen.known.job->state) ? Standing::stopped
           : sched::waits(*seen.known.job)           ? Standing::pending
                                                     : Standing::running;
  if (seen.known.events.empty() && seen.known.forgotten)
    return is_cancelled ? Standing::cancelled : Standing::lost;
  if (seen.known.events.empty()) return Standing::unknown;
  return explain(seen.known).standing;
}

}  // namespace

bool ElementView::is_over() const {
  return standing != Standing::pending && standing != Standing::running &&
         standing != Standing::unknown;
}

const ElementView* SweepView::best() const {
  const ElementView* best = nullptr;
  for (const ElementView& one : elements)
    if (one.number && (best == nullptr ||
                       (metric.lowest ? *one.number < *best->number : *one.number > *best->number)))
      best = &one;
  return best;
}

std::string SweepView::counts() const {
  std::vector<std::string> parts;
  for (const Standing kind : {Standing::done,
                              Standing::running,
                              Standing::pending,
                              Standing::stopped,
                              Standing::cancelled,
                              Standing::lost,
                              Standing::unknown}) {
    const auto count = std::ranges::count(elements, kind, &ElementView::standing);
    if (count > 0) parts.push_back(fmt::format("{} {}", count, to_string(kind)));
  }
  return join(parts, ", ");
}

Standing SweepView::standing() const {
  for (const Standing kind : {Standing::running,
                              Standing::pending,
                              Standing::unknown,
                              Standing::lost,
                              Standing::stopped,
                              Standing::cancelled})
    if (std::ranges::find(elements, kind, &ElementView::standing) != elements.end()) return kind;
  return Standing::done;
}

Result<SweepView> look_at_sweep(const run::RunDirectory& run, const std::string& metric) {
  SweepView view;
  view.run = run;
  const bool choose = metric.empty();
  DTS_ASSIGN(const run::Metric asked, run::parse_metric(choose ? "loss:min" : metric));
  DTS_ASSIGN(view.sweep, launch::read_sweep(run));
  DTS_ASSIGN(const auto events, run::read_ledger(run.ledger()));
  view.array = run::newest_job(events);
  std::vector<std::string> metrics(view.sweep.elements.size());
  view.elements.reserve(metrics.size());
  for (const sweep::Element& element : view.sweep.elements) {
    DTS_ASSIGN(ElementView seen, look_at_element(view, element, metrics[view.elements.size()]));
    view.elements.push_back(std::move(seen));
  }
  ArrayJobs jobs(view, view.trouble);
  for (ElementView& seen : view.elements) {
    if (run::final_decision(seen.known.events) == nullptr)
      jobs.ask(seen.known, seen.element->index);
    seen.standing = settled(seen, run::is_cancelled_in_queue(events));
  }
  compare(view, metrics, asked);
  if (choose && view.best() == nullptr) compare(view, metrics, {"accuracy", false});
  return view;
}

std::string size_of(const sweep::Sweep& sweep) {
  std::string text = counted(sweep.elements.size(), "element");
  if (sweep.at_once > 0) text += fmt::format(", at most {} at once", sweep.at_once);
  if (sweep.names.empty()) return text + ": " + sweep.array();
  text += ": " + values_of(sweep, sweep.elements.front());
  return sweep.elements.size() == 1 ? text
                                    : text + ", ..., " + values_of(sweep, sweep.elements.back());
}

std::string values_of(const sweep::Sweep& sweep, const sweep::Element& element) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sweep.names.size(); ++i)
    parts.push_back(sweep.names[i] + "=" + element.values[i]);
  return join(parts, " ");
}

}  // namespace dts::cli
