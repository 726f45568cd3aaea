// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/doctor_probe.hpp"

#include "cli/commands/held_signals.hpp"
#include "cli/commands/prepare.hpp"
#include "cli/commands/submit_prepared.hpp"
#include "cli/output/cause_words.hpp"
#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/os/interruption.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/probe/facts.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/run/summary/summary.hpp"
#include "core/sched/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace dts::cli {
namespace {

constexpr std::chrono::milliseconds k_probe_look{500};
constexpr std::chrono::seconds k_probe_end{90};  // for the agent of a cancelled job to end
constexpr std::chrono::minutes k_probe_time{2};  // Slurm counts whole minutes, the Prolog included

// Keeps nodes, launcher, set-up and limits, and removes all that concerns the program.
spec::JobSpec probe_of(spec::JobSpec spec) {
  spec.job_name = "doctor-probe";
  spec.nodes = std::min(spec.nodes, probe::k_most_ranks);
  spec.spares = 0;
  spec.ntasks_per_node = 1;
  spec.per_node = spec.per_rank = false;
  spec.totals = {};
  for (const char* of_the_whole_run : {"array", "begin", "deadline", "dependency"})
    spec.slurm.erase(of_the_whole_run);
  spec.after.clear();
  spec.sweep.clear();
  spec.stage.clear();
  spec.log_links.clear();
  spec.chain = 0;
  spec.snapshot = false;
  spec.container = {};
  spec.requeue = false;
  spec.time = k_probe_time;
  spec.signal_margin = std::chrono::seconds(0);
  spec.hang_timeout = std::chrono::seconds::max();
  spec.stop_signal = 15;
  spec.on = "crash=stop,launch=stop,signalled=stop,node_failed=stop,preempted=stop";
  spec.command = {program_path(), "probe"};
  return spec;
}

// Shows the states of a job as they change, and for how long it waited.
class ProbeWatch {
 public:
  explicit ProbeWatch(doctor::Probed& probed) : probed_(probed) {}

  void see(const sched::JobInfo& job) {
    const std::string words = sched::is_terminal(job.state) ? "over"
                              : job.state == sched::JobState::pending && !job.reason.empty()
                                  ? fmt::format("{} ({})", sched::to_string(job.state), job.reason)
                                  : sched::to_string(job.state);
    if (words != said_) tell("probe: job {} is {}\n", probed_.job, words);
    said_ = words;
    if (!job.partition.empty()) probed_.partition = job.partition;
    if (sched::waits(job) || job.nodes.empty()) {
      last_reason_ = job.reason;
      return;
    }
    if (probed_.nodes.empty())
      probed_.waited = std::chrono::duration_cast<std::chrono::seconds>(
          std::chrono::steady_clock::now() - began_);
    probed_.nodes = job.nodes;
    if (job.cpus.empty()) return;
    probed_.cores.clear();
    for (const std::string& list : job.cpus)
      if (const auto cores = parse_number_list(list, k_highest_cpu); cores && !cores->empty())
        probed_.cores.push_back(static_cast<unsigned>(cores->size()));
  }

  [[nodiscard]] const std::string& last_reason() const { return last_reason_; }

 private:
  doctor::Probed& probed_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::string said_, last_reason_;
};

// True once the job is over; Errc::timed_out at `until`.
Result<void> await_probe(sched::Scheduler& scheduler,
                         const sched::JobId& id,
                         std::chrono::steady_clock::time_point until,
                         ProbeWatch& watch) {
  while (true) {
    const auto job = scheduler.job(id);
    if (job) watch.see(*job);
    const bool is_forgotten = !job && job.error().code == Errc::not_found;
    if (is_forgotten || (job && sched::is_terminal(job->state) && !job->completing)) return {};
    DTS_TRY(check_interruption());
    if (std::chrono::steady_clock::now() > until)
      return fail(Errc::timed_out, "the job has not ended");
    std::this_thread::sleep_for(k_probe_look);
  }
}

// Ends the job for certain, and waits for its processes, as they write to the run directory.
void end_probe(sched::Scheduler& scheduler, const sched::JobId& id) {
  if (const auto cancelled = sched::cancel_for_certain(scheduler, id, interactive_patience());
      !cancelled)
    return tell("probe: job {} may still run: {}\n", id, cancelled.error().message);
  const auto until = std::chrono::steady_clock::now() + k_probe_end;
  while (std::chrono::steady_clock::now() < until) {
    const auto job = scheduler.job(id);
    if (!job || (sched::is_terminal(job->state) && !job->completing)) break;
    std::this_thread::sleep_for(k_probe_look);
  }
  tell("probe: job {} is cancelled\n", id);
}

// Why the only attempt ended before every rank had an answer.
std::string failure_of_probe(const run::RunDirectory& run) {
  const auto events = run::read_ledger(run.ledger());
  if (!events) return events.error().message;
  const run::RunSummary summary = run::summarise(*events, "");
  if (summary.done) return {};
  if (summary.attempts.empty()) return "its script did not launch ranks";
  const run::AttemptSummary& last = summary.attempts.back();
  if (!last.detail.empty()) return last.detail;
  return last.cause.value() ? words_of_cause(*last.cause.value(), last.detail).what
                            : "its end was not recorded";
}

void collect_answers(const run::RunDirectory& run, doctor::Probed& probed) {
  for (unsigned rank = 0; rank < probed.asked_nodes; ++rank) {
    const auto text = read_own_file(probe::facts_file(run.path, rank), probe::k_largest_facts);
    auto facts = text ? probe::parse_facts(*text) : tl::unexpected<Error>(text.error());
    if (facts) probed.ranks.push_back(*std::move(facts));
  }
  const bool is_whole = probed.ranks.size() == probed.asked_nodes;
  if (!probed.nodes.empty() && !is_whole) probed.failure = failure_of_probe(run);
}

// Follows the job; when this returns, the job is over, or was ended.
Result<void> follow_probe(sched::Scheduler& scheduler,
                          const sched::JobId& id,
                          std::chrono::seconds patience,
                          doctor::Probed& probed) {
  ProbeWatch watch(probed);
  const auto ended = await_probe(scheduler, id, std::chrono::steady_clock::now() + patience, watch);
  if (ended) {
    if (probed.nodes.empty()) probed.no_start = fmt::format("job {} ended before it began", id);
    return {};
  }
  end_probe(scheduler, id);
  if (ended.error().code != Errc::timed_out) return ended;
  if (probed.nodes.empty())
    probed.no_start = fmt::format("job {} did not begin within {} s (--probe-wait){}",
                                  id,
                                  patience.count(),
                                  watch.last_reason().empty() ? "" : ": " + watch.last_reason());
  return {};
}

Result<void> refuse_parts(const spec::JobSpec& spec) {
  if (spec.steps.empty() && spec.roles.empty()) return {};
  return fail(Errc::usage,
              "--submit-probe is for a job of one program, and this one has several",
              "describe one of them by options: --nodes, --launcher, --partition");
}

}  // namespace

Result<doctor::Probed> probe_by_job(sched::Scheduler& scheduler,
                                    Asked asked,
                                    std::chrono::seconds patience) {
  DTS_TRY(refuse_parts(asked.spec));
  asked.spec = probe_of(std::move(asked.spec));
  doctor::Probed probed;
  probed.asked_nodes = asked.spec.nodes;
  DTS_ASSIGN(const plan::ClusterView cluster, view_of(scheduler));
  DTS_ASSIGN(const Prepared prepared,
             prepare(std::move(asked), {}, cluster, Destination::scheduler));
  const auto id = [&] {
    const HeldSignals whole;
    return submit_prepared(scheduler, prepared);
  }();
  if (!id && id.error().code == Errc::rejected) {
    probed.no_start = "Slurm refuses the job: " + id.error().message;
    probed.is_refused = true;
    return probed;
  }
  if (!id) return tl::unexpected<Error>(id.error());
  remember_signals();
  probed.job = id->text();
  tell("probe: job {} is submitted; waiting for {} s at most\n", *id, patience.count());
  const auto followed = follow_probe(scheduler, *id, patience, probed);
  if (followed) collect_answers(prepared.directory(), probed);
  if (const auto removed = remove_all(prepared.directory().path); !removed)
    tell("probe: {}\n", removed.error().message);
  if (!followed) return tl::unexpected<Error>(followed.error());
  return probed;
}

}  // namespace dts::cli
