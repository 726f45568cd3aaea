// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/chain.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/launch/job/successor.hpp"
#include "core/sched/order.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace dts::launch {
namespace {

constexpr const char* k_chain_schema = "dtsubmit/chain/1";
const sched::Patience k_chain_patience{std::chrono::seconds(20)};

Result<void> write_chain(const run::RunDirectory& run, const Chain& chain) {
  const nlohmann::ordered_json document{
      {"schema", k_chain_schema}, {"jobs", chain.jobs}, {"waiting", chain.waiting.text()}};
  return write_file(run.chain(), document.dump() + "\n");
}

}  // namespace

Result<Chain> read_chain(const run::RunDirectory& run) {
  const auto text = read_own_file(run.chain());
  if (!text && text.error().code == Errc::not_found) return Chain{};
  if (!text) return tl::unexpected<Error>(text.error());
  const auto document = nlohmann::json::parse(*text, nullptr, false);
  if (!document.is_object() || document.value("schema", nlohmann::json()) != k_chain_schema ||
      !document.contains("jobs") || !document["jobs"].is_number_unsigned() ||
      !document.contains("waiting") || !document["waiting"].is_string())
    return fail(Errc::invalid, run.chain() + " is not as dtsubmit wrote it");
  return Chain{document["jobs"].get<unsigned>(),
               JobId::parse(document["waiting"].get<std::string>()).value_or(JobId())};
}

Result<Chain> extend_chain(sched::Scheduler& scheduler,
                           const run::RunDirectory& run,
                           const JobId& own,
                           unsigned most) {
  DTS_ASSIGN(Chain chain, read_chain(run));
  if (!chain.waiting.empty() && chain.waiting != own) {
    // This job was requeued, or another took its place.
    const auto info = job_of_run(scheduler, run, chain.waiting);
    if (!info && info.error().code != Errc::not_found) return tl::unexpected<Error>(info.error());
    if (info && !sched::is_terminal(info->state)) return chain;
  }
  chain.waiting = {};
  if (chain.jobs >= most) {
    DTS_TRY(write_chain(run, chain));
    return chain;
  }
  DTS_ASSIGN(sched::Submission next, make_successor(run));
  next.once["dependency"] = "afterany:" + own.text();
  if (const auto now = job_of_run(scheduler, run, own); now && !now->unlimited)
    next.continues_after = now->end_time;
  std::set<JobId> known{own};
  DTS_ASSIGN(const auto jobs, sched::find_jobs(scheduler, next.script_path));
  for (const sched::JobInfo& job : jobs) known.insert(job.id);
  DTS_ASSIGN(const auto job, sched::submit_once(scheduler, next, known, k_chain_patience));
  if (!job) return fail(Errc::unreachable, "no answer to the submission of the chain's next job");
  chain.waiting = *job;
  ++chain.jobs;
  DTS_TRY(write_chain(run, chain));
  return chain;
}

Result<void> cut_chain(sched::Scheduler& scheduler, const run::RunDirectory& run) {
  DTS_ASSIGN(Chain chain, read_chain(run));
  if (chain.waiting.empty()) return {};
  const auto cancelled = cancel_job_of_run(scheduler, run, chain.waiting, k_chain_patience);
  if (!cancelled && cancelled.error().code != Errc::not_found)
    return tl::unexpected<Error>(cancelled.error());
  chain.waiting = {};
  return write_chain(run, chain);
}

}  // namespace dts::launch
