// SPDX-License-Identifier: Apache-2.0
#include "core/launch/successor.hpp"

#include "core/base/own_file.hpp"
#include "core/launch/assignment.hpp"
#include "core/run/ledger.hpp"
#include "core/run/writable.hpp"
#include "core/script/submission.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace dts::launch {
namespace {

// The folder that the run was submitted from.
Result<std::string> work_folder(const run::RunDirectory& run) {
  DTS_ASSIGN(const std::string text, read_own_file(run.provenance()));
  const auto record = nlohmann::json::parse(text, nullptr, false);
  if (!record.is_object() || !record.contains("folder") || !record["folder"].is_string())
    return fail(Errc::invalid, run.provenance() + ": no \"folder\"");
  return record["folder"].get<std::string>();
}

}  // namespace

std::vector<std::string> scrubbed_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    // SLURM_CONF says where the scheduler is; the job needs it as much as we do.
    if (name == "SLURM_CONF" || !plan::is_leaky_variable(name)) environment.push_back(text);
  }
  return environment;
}

Result<sched::Submission> make_successor(const run::RunDirectory& run) {
  DTS_ASSIGN(const spec::JobSpec spec, read_spec(run));
  DTS_ASSIGN(const plan::Plan plan, read_plan(run));
  script::JobFiles files;
  DTS_ASSIGN(files.script, read_own_file(run.script()));
  DTS_ASSIGN(files.work_folder, work_folder(run));
  files.script_path = run.script();
  files.run_dir = run.path;
  files.environment = scrubbed_environment();
  return script::make_submission(spec, plan, std::move(files));
}

namespace {

// The same job where the scheduler still knows it and lets it; else a successor under a new id.
Result<sched::JobId> put_back(sched::Scheduler& scheduler,
                              const run::RunDirectory& run,
                              sched::JobId job) {
  const auto requeued = scheduler.requeue(job);
  if (requeued) return job;
  if (requeued.error().code == Errc::unreachable) return tl::unexpected<Error>(requeued.error());
  // A job that may not be requeued but still runs must not get a twin that writes beside it.
  if (const auto info = scheduler.job(job); info && !sched::is_terminal(info->state))
    return tl::unexpected<Error>(requeued.error());
  DTS_ASSIGN(const sched::Submission successor, make_successor(run));
  return scheduler.submit(successor);
}

}  // namespace

Result<sched::JobId> run_again(sched::Scheduler& scheduler,
                               const run::RunDirectory& run,
                               sched::JobId job,
                               const std::string& why) {
  run::Event resumed{.event = "resumed"};
  resumed.detail = why;
  // A job in the queue of which its run cannot take note would be nobody's.
  DTS_TRY(run::check_writable(run));
  DTS_ASSIGN(resumed.job, put_back(scheduler, run, job));
  DTS_TRY(run::append_event(run.ledger(), resumed));
  return resumed.job;
}

}  // namespace dts::launch
