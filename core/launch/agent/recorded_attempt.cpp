// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/recorded_attempt.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/agent/settings_of_job.hpp"
#include "core/launch/health/quarantine.hpp"
#include "core/launch/health/slow_nodes.hpp"
#include "core/launch/job/classify.hpp"
#include "core/launch/job/successor.hpp"
#include "core/plan/layout/json.hpp"
#include "core/run/event/event_line.hpp"
#include "core/run/ledger/events.hpp"
#include "core/run/summary/evidence.hpp"
#include "core/run/summary/explain.hpp"
#include "core/run/summary/lost_gpu.hpp"
#include "core/run/summary/node_at_fault.hpp"
#include "core/run/summary/summary.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace dts::launch {

Result<run::TakenAttempt> take_attempt(const Assignment& job) {
  const auto process = process_info(::getpid());
  DTS_ASSIGN(run::TakenAttempt taken,
             run::take_over(job.run,
                            {job.allocation.job,
                             job.allocation.restart_count,
                             job.allocation.node,
                             ::getpid(),
                             process ? process->started : 0}));
  const std::string path = job.run.agent_log(taken.number);
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.valid() || ::dup2(file.get(), STDERR_FILENO) < 0)
    log("{}", fail_errno("no log " + path).value().message);
  return taken;
}

run::Outcome storage_outcome(const Error& failed) {
  return {is_of_storage(failed) ? run::Cause::storage_error : run::Cause::disk_full,
          exit_code(Errc::io),
          failed.message};
}

void note_event(run::LedgerWriter& ledger,
                const Assignment& job,
                unsigned attempt,
                run::Event event) {
  event.attempt = attempt;
  if (event.job.empty()) event.job = job.allocation.job;  // otherwise it names the successor
  if (const auto noted = ledger.append(std::move(event)); !noted)
    log("{}; the run continues without it", noted.error().message);
}

bool close_ledger(const run::LedgerWriter& ledger, const AgentOptions& options) {
  std::string lines;
  for (const run::Event& event : ledger.waiting()) {
    const std::string line = run::to_line(event);
    log("not in the ledger: {}", line);
    lines += line + "\n";
  }
  if (options.part && options.part->unwritten_fd >= 0)
    if (const auto given = write_whole(options.part->unwritten_fd, lines, "the whole run's agent");
        !given)
      log("{}", given.error().message);
  return lines.empty();
}

Result<void> RecordedAttempt::note(run::Event event) {
  note_event(in_.ledger, job_, number_, std::move(event));
  return {};
}

Result<void> RecordedAttempt::begin() {
  DTS_ASSIGN(const run::TakenAttempt taken, take_attempt(job_));
  number_ = taken.number;
  record_ = taken.record;
  const sched::JobId& job = job_.allocation.job;
  log("attempt {} of {}: {}{} on {} ({})",
      number_,
      run_.path,
      job.empty() ? "" : fmt::format("job {}, ", job),
      counted(plan_.world_size, "rank"),
      counted(job_.allocation.nodes.size(), "node"),
      fmt::join(job_.allocation.nodes, ","));
  DTS_TRY(choose_nodes());
  run::AttemptStarted started{.nodes = choice_.used};
  if (!choice_.spare.empty()) started.detail = "spare: " + fold_hostlist(choice_.spare);
  started.checkpoint = newest_checkpoint(job_);
  // The disk writes overlap with the start of the launcher; on_started() joins before anything is
  // committed.
  beginning_ =
      std::async(std::launch::async, [this, started = std::move(started)]() -> Result<void> {
        const Result<void> synced = run::sync_attempt(run_, number_);
        DTS_TRY(note({.what = started}));  // also if the attempt then ends because of the disk
        return synced;
      });
  return {};
}

Result<void> RecordedAttempt::choose_nodes() {
  choice_ = in_.pool.choose(number_);
  if (choice_.used.size() < plan_.nodes || choice_.unfit.empty()) return {};
  // The attempt continues without these nodes, so its end will not name them.
  run::Outcome found;
  found.unfit = choice_.unfit;
  remember_nodes(found, run_.path, number_);
  return note_unfit(choice_.unfit);
}

RunnerSettings RecordedAttempt::runner_settings() {
  RunnerSettings settings;
  settings.attempt = attempt_settings(job_, number_);
  settings.attempt.nodes = choice_.used;
  if (in_.pool.measured()) settings.attempt.spec.preflight = std::chrono::seconds(0);
  settings.attempt.record = record_;
  settings.dtsubmit = in_.options.dtsubmit;
  settings.local = in_.options.local;
  settings.names_nodes = plan_.spares > 0 || in_.options.part;
  settings.signals = in_.signals;
  settings.topology = in_.topology;
  settings.watch = in_.watch;
  settings.on_started = [this](const Attempt& attempt) { return on_started(attempt); };
  settings.on_stop = [this](const Attempt& attempt) { on_stop(attempt); };
  settings.on_event = [this](run::Event event) { on_event(std::move(event)); };
  if (in_.options.local)
    output_.emplace(run::RankLogs(run_, number_, in_.options.shown), STDOUT_FILENO);
  return settings;
}

Result<void> RecordedAttempt::on_started(const Attempt& attempt) {
  for (const plan::Placement& placement : attempt.placements())
    rank_nodes_.push_back(placement.node);
  join_beginning();
  DTS_TRY(begun_);
  const auto& rendezvous = attempt.rendezvous();
  master_port_ = rendezvous.master_port;
  log("{}; MASTER_ADDR={} MASTER_PORT={}",
      plan_.world_size == 1 ? "the rank runs" : fmt::format("all {} ranks run", plan_.world_size),
      rendezvous.master_addr,
      rendezvous.master_port);
  const std::string file = run_.attempt(number_) + "/placement.json";
  if (const auto written = write_file(file, plan::to_json(attempt.placements())); !written)
    log("{}", written.error().message);
  return note({.what = run::RanksStarted{fmt::format("{}, master {} port {}",
                                                     counted(plan_.world_size, "rank"),
                                                     rendezvous.master_addr,
                                                     rendezvous.master_port)}});
}

void RecordedAttempt::on_stop(const Attempt& attempt) {
  const AskedStop& stop = *attempt.asked_stop();
  const auto noted = note({.what = run::StopRequested{stop.cause, stop.detail}});
  if (!noted) log("{}", noted.error().message);
  // While events wait to be written, the ledger's time is that of an earlier event.
  if (in_.ledger.waiting().empty()) stopped_at_ = run::time_of_last_event(run_);
}

void RecordedAttempt::on_event(run::Event event) {
  log("{}{}", event.is<run::Warning>() ? "warning: " : "", run::detail_of(event));
  join_beginning();
  if (const auto noted = note(std::move(event)); !noted) log("{}", noted.error().message);
}

void RecordedAttempt::join_beginning() {
  if (beginning_.valid()) begun_ = beginning_.get();
}

Result<void> RecordedAttempt::note_unfit(const std::vector<run::UnfitNode>& nodes) {
  for (const run::UnfitNode& unfit : nodes)
    DTS_TRY(note({.what = run::NodeUnfit{.detail = unfit.why, .node = unfit.node}}));
  return {};
}

Result<run::Outcome> RecordedAttempt::try_attempt(AttemptRunner& runner) {
  if (choice_.used.size() < plan_.nodes) return in_.pool.too_few(choice_);
  return runner.run();
}

// The latest step that the program reported, in a heartbeat or in its metrics.
std::optional<std::int64_t> RecordedAttempt::newest_step(const AttemptRunner& runner) const {
  const auto beaten = std::min<std::uint64_t>(runner.newest_step(), INT64_MAX);
  std::int64_t newest = beaten > 0 ? static_cast<std::int64_t>(beaten) : -1;
  for (const run::AttemptSummary& told : run::summarise({}, run::read_metrics(run_)).attempts)
    if (told.number == number_) newest = std::max(newest, told.last_step);
  return newest >= 0 ? std::optional(newest) : std::nullopt;
}

// Empty for a heterogeneous job: its record is that of a single component.
std::vector<std::string> RecordedAttempt::nodes_taken(const AttemptRunner& runner) const {
  const auto& job = runner.scheduler().job();
  if (!job || job_.spec.heterogeneous) return {};
  return taken_nodes(*job, job_.allocation.nodes);
}

// Adds to the attempt's outcome what is known by now about its cause.
run::Outcome RecordedAttempt::explained(run::Outcome outcome, const AttemptRunner& runner) const {
  std::string trouble;
  if (run::may_be_explained(outcome.cause) && !runner.kill_imminent())
    trouble = await_storage(run_, in_.patience);
  const auto runtimes = newest_step(runner) ? std::vector<std::string>() : used_runtimes(job_);
  outcome = run::explain(std::move(outcome), run_, number_, plan_.world_size, runtimes);
  if (!trouble.empty() && outcome.cause == run::Cause::user_exit) {
    outcome.cause = run::Cause::storage_error;
    outcome.detail += "; " + trouble;
  }
  const bool works = newest_step(runner).value_or(0) > 0 || has_saved(job_, number_);
  const bool may_see_more = may_show_more_gpus(job_, runner.plan());
  outcome = run::settle_unseen_gpu(std::move(outcome), run_, works, may_see_more);
  outcome = run::settle_completion(std::move(outcome), run::read_metrics(run_), number_);
  // Only now: settle_completion() would take "saved" for "every rank exited 0", and the run for
  // done if it has reached its last step.
  if (!outcome.detail_if_saved.empty() && stopped_at_ && has_saved_after(job_, *stopped_at_)) {
    outcome.detail = outcome.detail_if_saved;
    outcome.unsaved = outcome.goes_on;
  }
  outcome.node = run::node_at_fault(outcome, run_, number_, rank_nodes_);
  outcome.port_changes = outcome.cause == run::Cause::rendezvous && master_port_ != 0 &&
                         run::says_port_is_taken(outcome.detail) &&
                         outcome.detail.find(std::to_string(master_port_)) != std::string::npos;
  if (runner.scheduler().job())
    outcome = explain_by_job(std::move(outcome),
                             *runner.scheduler().job(),
                             {job_.allocation.nodes,
                              runner.scheduler().down_nodes(),
                              plan_.spares > 0 ? choice_.used : std::vector<std::string>(),
                              runner.scheduler().reason_is_lost(),
                              nodes_taken(runner)});
  if (runner.interrupted() && outcome.cause == run::Cause::stopped)
    outcome.exit_code = exit_code(Errc::interrupted);
  return outcome;
}

// If a launch on several nodes failed and no node is named as the cause, asks each node. A launcher
// that gives up kills the ranks of other nodes.
run::Outcome RecordedAttempt::doubted(run::Outcome outcome) {
  const bool is_in_doubt = outcome.cause == run::Cause::launch_failed
                               ? outcome.node.empty()
                               : outcome.cause == run::Cause::rank_killed && rank_nodes_.empty();
  if (in_.options.local || !is_in_doubt || choice_.used.size() < 2) return outcome;
  const std::string said = join(run::last_lines(run_.agent_log(number_), 100), "\n");
  const Wait waits = [this](auto delay) { return waits_unasked(in_.signals, delay); };
  const auto tell = [this](const auto& words) { on_event({.what = run::Warning{words}}); };
  const std::string file = run_.attempt(number_) + "/channel.json";
  const NodeDoubt doubt{choice_.used, in_.options.dtsubmit, file, plan_.component};
  const SlowNodes slow{says_nodes_are_slow(said), job_.spec.start_timeout, waits, tell};
  return ask_nodes(std::move(outcome), doubt.nodes.size(), question_of(doubt, waits), slow);
}

Result<AttemptEnd> RecordedAttempt::run() {
  if (std::string trouble = enter_work_folder(run_); !trouble.empty())
    on_event({.what = run::Warning{std::move(trouble)}});
  AttemptRunner runner(runner_settings());
  auto ended_by = try_attempt(runner);
  output_.reset();
  join_beginning();
  if (!begun_ && !is_of_storage(begun_.error())) return tl::unexpected<Error>(begun_.error());
  if (!ended_by && is_of_storage(ended_by.error())) ended_by = storage_outcome(ended_by.error());
  if (!ended_by) {
    // The attempt could not even begin, for instance without mpirun. This is recorded as an end as
    // well, since the ledger would otherwise show the attempt as still running.
    DTS_TRY(note({.what = run::ended_event({run::Cause::launch_failed,
                                            exit_code(ended_by.error().code),
                                            ended_by.error().message})}));
    log("attempt {} could not begin: {}", number_, ended_by.error().message);
    return tl::unexpected<Error>(std::move(ended_by).error());
  }
  run::Outcome outcome = explained(*std::move(ended_by), runner);
  if (!runner.kill_imminent()) outcome = doubted(std::move(outcome));
  log("attempt {} ended: {}: {}", number_, run::to_string(outcome.cause), outcome.detail);
  run::AttemptEnded ended = run::ended_event(outcome);
  ended.checkpoint = newest_checkpoint(job_);
  ended.step = newest_step(runner);
  ended.saved = has_saved(job_, number_);
  DTS_TRY(note_unfit(outcome.unfit));
  if (!in_.options.local) remember_nodes(outcome, run_.path, number_);
  std::vector<std::string> lost = runner.scheduler().down_nodes();
  const std::vector<std::string> taken = nodes_taken(runner);
  lost.insert(lost.end(), taken.begin(), taken.end());
  in_.pool.remember(outcome, lost);
  if (const Seconds save = runner.save_time(); save.count() > 0) ended.save = save;
  const auto noted = note({.what = std::move(ended)});
  runner.clean_up();
  DTS_TRY(noted);
  const bool requeued = runner.scheduler().job() && is_requeued(*runner.scheduler().job());
  return AttemptEnd{std::move(outcome), runner.kill_imminent(), requeued, runner.stop_asked()};
}

}  // namespace dts::launch
