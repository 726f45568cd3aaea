// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/after/after.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/alike.hpp"
#include "core/launch/job/element.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/run/index/find.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/newest_job.hpp"

#include <fmt/format.h>

namespace dts::launch {
namespace {

enum class Stand { alive, done, failed };

struct Awaiting {
  Stand stand = Stand::alive;
  sched::JobId job{};
};

// A job that its agent could not complete, or that never began, counts as failed.
Result<Stand> stand_of_job(sched::Scheduler& scheduler,
                           const run::RunDirectory& run,
                           const sched::JobId& job) {
  if (job.empty()) return Stand::failed;
  const auto info = job_of_run(scheduler, run, job);
  if (!info && info.error().code == Errc::not_found) return Stand::failed;
  if (!info) return tl::unexpected<Error>(info.error());
  return sched::is_terminal(info->state) && !info->completing ? Stand::failed : Stand::alive;
}

Result<Awaiting> stand_of_run(sched::Scheduler& scheduler, const run::RunDirectory& run) {
  DTS_ASSIGN(const auto events, run::read_ledger(run.ledger()));
  if (run::final_decision(events) != nullptr)
    return Awaiting{run::is_done(events) ? Stand::done : Stand::failed, {}};
  const sched::JobId job = run::newest_job(events);
  DTS_ASSIGN(const Stand stand, stand_of_job(scheduler, run, job));
  if (stand == Stand::alive) return Awaiting{stand, job};
  // The agent may have recorded the end in the meantime.
  DTS_ASSIGN(const auto again, run::read_ledger(run.ledger()));
  return Awaiting{run::is_done(again) ? Stand::done : stand, {}};
}

// Alive as long as one element is; then failed if any element failed.
Result<std::vector<Awaiting>> stand_of_elements(sched::Scheduler& scheduler,
                                                const run::RunDirectory& run) {
  DTS_ASSIGN(const sweep::Sweep sweep, read_sweep(run));
  DTS_ASSIGN(const auto events, run::read_ledger(run.ledger()));
  const sched::JobId array = run::newest_job(events);
  std::vector<Awaiting> all;
  for (const sweep::Element& element : sweep.elements) {
    const run::RunDirectory place = element_directory(run, element.index);
    const sched::JobId job = sweep::job_of_element(array, element.index);
    Awaiting& one = all.emplace_back();
    if (exists(place.path)) {
      DTS_ASSIGN(one, stand_of_run(scheduler, place));
    } else {
      DTS_ASSIGN(one.stand, stand_of_job(scheduler, run, job));
      one.job = job;
    }
    if (one.job == job) one.job = array;  // one condition instead of thousands
  }
  return all;
}

Result<std::vector<Awaiting>> stands_of(sched::Scheduler& scheduler, const std::string& folder) {
  DTS_ASSIGN(const run::RunDirectory run, run::open_run(folder));
  if (is_sweep(run)) return stand_of_elements(scheduler, run);
  return stand_of_run(scheduler, run).map([](Awaiting one) { return std::vector{std::move(one)}; });
}

}  // namespace

Result<Awaited> look_at_awaited(sched::Scheduler& scheduler,
                                const std::vector<spec::After>& after) {
  Awaited awaited;
  for (const spec::After& one : after) {
    DTS_ASSIGN(const auto stands, stands_of(scheduler, one.run));
    bool alive = false;
    bool failed = false;
    for (const Awaiting& stand : stands) {
      alive = alive || stand.stand == Stand::alive;
      failed = failed || stand.stand == Stand::failed;
      if (stand.stand == Stand::alive) awaited.jobs.push_back(stand.job);
    }
    if (alive || one.when == spec::After::When::any) continue;
    if (failed != (one.when == spec::After::When::fail))
      awaited.refused.push_back(fmt::format("{} {}",
                                            one.run,
                                            failed ? "ended without being done, and --after waits "
                                                     "for its success"
                                                   : "is done, and --after waits for its failure"));
  }
  make_set(awaited.jobs);
  return awaited;
}

std::string dependency_on(const std::vector<sched::JobId>& jobs) {
  std::string text;
  for (const sched::JobId& job : jobs) text += ":" + job.text();
  return text.empty() ? "" : "afterany" + text;
}

}  // namespace dts::launch
