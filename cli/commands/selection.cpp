// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/selection.hpp"

#include "cli/output/report.hpp"
#include "core/base/files/files.hpp"
#include "core/base/text/array_indices.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/job/element.hpp"
#include "core/launch/job/successor.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/directory/lease.hpp"
#include "core/run/directory/parts.hpp"
#include "core/run/directory/presence.hpp"
#include "core/run/index/find.hpp"
#include "core/run/index/index.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/run/ledger/newest_job.hpp"
#include "core/sched/phrases.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace dts::cli {

void add_selection(CLI::App& verb, Selection& selection, Naming naming) {
  CLI::Option* what =
      verb.add_option("job", selection.what, "job id, name of a run or job, directory, or `last`")
          ->type_name("JOB");
  if (naming == Naming::required) what->required();
  add_runs_option(verb, selection.runs);
}

CLI::Option* add_runs_option(CLI::App& verb, std::string& runs) {
  return verb.add_option("--runs", runs, "folder of run directories [runs]")
      ->type_name("DIR")
      ->envname("DTSUBMIT_RUNS");
}

namespace {

// True for a run that was submitted, but whose job was never recorded.
bool lacks_job(const run::RunDirectory& run) {
  if (!exists(run.script()) || run::latest_attempt(run) > 0) return false;
  const auto events = run::read_ledger(run.ledger());
  return events && run::newest_job(*events).empty();
}

// If the run directory is gone, only the scheduler's record of the job is left.
std::string record_of(sched::JobId job) {
  const auto scheduler = plugin::load_scheduler();
  const auto info = scheduler ? (*scheduler)->job(job)
                              : Result<sched::JobInfo>(tl::unexpected<Error>(scheduler.error()));
  if (!info && info.error().code == Errc::not_found)
    return fmt::format("; {} no longer knows its job {}", (*scheduler)->phrases().name, job);
  if (!info)
    return fmt::format("; nothing is known about its job {}: {}", job, info.error().message);
  if (!sched::is_terminal(info->state)) {
    const std::string cancel = (*scheduler)->phrases().cancel;
    return fmt::format("; its job {} is still {}{}",
                       job,
                       sched::to_string(info->state),
                       cancel.empty() ? "" : ": " + sched::with_job(cancel, job) + " ends it");
  }
  return fmt::format(
      "; its job {} is over ({}): {}", job, sched::to_string(info->state), info->explanation);
}

tl::unexpected<Error> gone(const run::Indexed& entry) {
  const bool can_ask = !entry.job.empty() && entry.cluster == run::this_cluster();
  return fail(Errc::not_found,
              run::vanished_words({entry.folder}) + (can_ask ? record_of(entry.job) : ""),
              "its records are gone with it; if it was moved, give its new path");
}

Result<run::RunDirectory> find_directory(const Selection& selection) {
  auto here = run::find_run(selection.runs, selection.what);
  if (here || here.error().code != Errc::not_found) return here;
  if (selection.runs == k_default_runs && selection.what.find('/') == std::string::npos) {
    auto elsewhere = run::find_in_index(selection.what);
    if (elsewhere || elsewhere.error().code == Errc::invalid) return elsewhere;
  }
  if (const auto entry = run::gone_from_index(selection.what)) return gone(*entry);
  // Last, as it may be the id of a job whose run is elsewhere.
  if (auto named = run::find_job_name(selection.runs, selection.what)) return *std::move(named);
  return here;  // its message is the better one
}

Result<run::RunDirectory> no_part(const run::RunDirectory& whole, const std::string& name) {
  std::vector<std::string> names;
  for (const run::PartDirectory& part : run::parts_of(whole)) names.push_back(part.name);
  return fail(Errc::not_found,
              fmt::format("{} has no part `{}`", whole.path, name),
              names.empty() ? "it has neither steps nor roles" : "its parts: " + join(names, ", "));
}

// "last/train", "1234/steps/2-train": a part of the run before the slash. nullopt: not a part.
std::optional<Result<run::RunDirectory>> find_part(const Selection& selection) {
  const std::string& what = selection.what;
  for (std::size_t slash = what.rfind('/'); slash != std::string::npos && slash > 0;
       slash = what.rfind('/', slash - 1)) {
    const auto whole = find_directory({what.substr(0, slash), selection.runs});
    if (!whole) continue;
    if (const auto part = run::part_named(*whole, what.substr(slash + 1))) return part->run;
    if (!launch::is_sweep(*whole)) return no_part(*whole, what.substr(slash + 1));
  }
  return std::nullopt;
}

// "1234+1": the role that is this component of a heterogeneous job. nullopt: not a component.
std::optional<run::RunDirectory> find_component(const Selection& selection) {
  const std::size_t plus = selection.what.rfind('+');
  if (plus == std::string::npos || plus == 0) return std::nullopt;
  const auto component = parse_number(std::string_view(selection.what).substr(plus + 1));
  const auto whole = find_directory({selection.what.substr(0, plus), selection.runs});
  if (!component || !whole) return std::nullopt;
  const auto parts = run::parts_of(*whole);
  const auto spec = launch::read_spec(*whole);
  if (!spec || !spec->heterogeneous || *component >= parts.size()) return std::nullopt;
  return parts[*component].run;
}

// An element of a sweep, "SWEEP/3" or "JOB_3", by its sweep and its index.
struct ElementName {
  std::string sweep;
  unsigned index = 0;
};

std::optional<ElementName> element_name(const std::string& what) {
  const std::size_t mark = what.find_last_of("/_");
  if (mark == std::string::npos || mark == 0) return std::nullopt;
  const auto index = parse_number(std::string_view(what).substr(mark + 1));
  if (!index || *index > k_highest_index) return std::nullopt;
  return ElementName{what.substr(0, mark), static_cast<unsigned>(*index)};
}

Result<run::RunDirectory> find_element(const Selection& selection, const ElementName& name) {
  DTS_ASSIGN(const run::RunDirectory run, find({name.sweep, selection.runs}));
  if (!launch::is_sweep(run)) return fail(Errc::not_found, run.path + " is not a sweep");
  DTS_ASSIGN(const sweep::Sweep sweep, launch::read_sweep(run));
  DTS_ASSIGN(const auto events, run::read_ledger(run.ledger()));
  return launch::open_element(run, sweep, name.index, run::newest_job(events));
}

// If a sweep was named, the message about its elements is the better one.
Result<run::RunDirectory> find_run_or_element(const Selection& selection) {
  auto run = find_directory(selection);
  const auto name = element_name(selection.what);
  if (run || run.error().code != Errc::not_found || !name) return run;
  auto element = find_element(selection, *name);
  const bool is_of_sweep =
      element || element.error().message.ends_with(fmt::format("has no element {}", name->index));
  return is_of_sweep ? element : run;
}

}  // namespace

Result<run::RunDirectory> find_whole(const Selection& selection) {
  return find(selection).map([](const run::RunDirectory& run) { return run::whole_of(run); });
}

Result<run::RunDirectory> find(const Selection& selection) {
  auto found = find_run_or_element(selection);
  if (!found && found.error().code == Errc::not_found) {
    if (const auto component = find_component(selection))
      found = *component;
    else if (auto part = find_part(selection))
      found = *std::move(part);
  }
  DTS_ASSIGN(run::RunDirectory run, std::move(found));
  if (!lacks_job(run)) return run;
  const auto scheduler = plugin::load_scheduler();
  const auto job = scheduler ? launch::find_job(**scheduler, run)
                             : Result<sched::JobId>(tl::unexpected<Error>(scheduler.error()));
  if (!job)
    warn(fmt::format("no job of {} is known, and the scheduler cannot be asked for one: {}",
                     run.path,
                     job.error().message));
  return run;
}

void note_in_index(const run::RunDirectory& run, sched::JobId job) {
  const auto noted = run::add_to_index({run.path, job, run::this_cluster()});
  if (noted) return;
  warn("the run will be found from its own folder only: " + noted.error().message);
}

void warn_of_damage(const run::RunDirectory& run,
                    const run::Ledger& ledger,
                    const run::RunSummary& summary) {
  warn(run::damage_words(ledger, run.ledger()));
  warn(run::damage_words(summary.damaged_metrics, run.metrics()));
}

Result<sched::JobId> job_of(const run::RunDirectory& run) {
  DTS_ASSIGN(const run::Ledger ledger, run::load_ledger(run.ledger()));
  if (const sched::JobId job = run::newest_job(ledger.events); !job.empty()) return job;
  const auto lease = run::read_lease(run, run::latest_attempt(run));
  if (lease && !lease->job.empty()) return lease->job;
  if (exists(run.script()))
    return fail(Errc::not_found,
                run.path + " has no job: its submission did not succeed",
                fmt::format("`dtsubmit requeue {}` submits it", shell_quote(run.path)));
  return fail(
      Errc::not_found, run.path + " has no scheduler job", "it was started by `dtsubmit run`");
}

}  // namespace dts::cli
