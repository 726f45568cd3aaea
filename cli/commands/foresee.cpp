// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/foresee.hpp"

#include "cli/commands/simulate_options.hpp"
#include "cli/commands/source.hpp"
#include "core/launch/agent/log_links.hpp"
#include "core/plugin/scheduler.hpp"

#include <optional>
#include <utility>

namespace dts::cli {
namespace {

Result<void> ask(sched::Scheduler& scheduler, KnownSite& known) {
  DTS_ASSIGN(const sched::ConfigInfo config, scheduler.config());
  DTS_ASSIGN(known.site.queue.nodes, scheduler.nodes());
  DTS_ASSIGN(known.site.partitions, scheduler.partitions());
  // The queue only adds reasons for waiting, so it may be missing.
  known.site.queue.jobs = scheduler.queue().value_or(std::vector<sched::QueuedJob>());
  known.site.billing_rule = config.billing_rule;
  known.site.power_up_seconds = config.power_up_seconds;
  known.permission = check_exit_codes(config);
  DTS_ASSIGN(known.cluster, view_of(known.site.queue.nodes, known.site.partitions));
  add_site(config, known.cluster);
  return {};
}

// A job that fits what this site allows, or otherwise any site; then with the problem that it has
// here.
struct Fitted {
  Prepared prepared;
  std::optional<Error> misfit;
};

// The cluster with the limits of this job.
plan::ClusterView limited_view(const KnownSite& known, const spec::JobSpec& spec) {
  plan::ClusterView view = known.cluster;
  const auto charged = charged_for(spec);
  if (!charged) return view;
  if (known.limits->count(*charged) == 0)
    (*known.limits)[*charged] =
        known.scheduler->limits(charged->account, charged->qos).value_or(sched::SiteLimits());
  add_limits(known.limits->at(*charged), view);
  return view;
}

Result<Fitted> fit(Asked asked, const KnownSite& known) {
  Source source = asked.spec.snapshot ? begin_reading_source().get() : Source{};
  if (known.scheduler == nullptr) {
    DTS_ASSIGN(Prepared prepared,
               prepare(std::move(asked), std::move(source), {}, Destination::scheduler));
    return Fitted{std::move(prepared), std::nullopt};
  }
  auto prepared = prepare(asked, source, limited_view(known, asked.spec), Destination::scheduler);
  if (prepared) return Fitted{*std::move(prepared), std::nullopt};
  asked.notes.clear();  // they have been shown
  DTS_ASSIGN(Prepared anywhere,
             prepare(std::move(asked), std::move(source), {}, Destination::scheduler));
  return Fitted{std::move(anywhere), std::move(prepared).error()};
}

forecast::Start unknown_start(Error why) {
  return forecast::start_of(fail(Errc::rejected, std::move(why.message), std::move(why.hint)));
}

forecast::Start start_of(const Fitted& fitted, const KnownSite& known) {
  if (known.scheduler == nullptr) return forecast::start_of(tl::unexpected<Error>(known.why_not));
  if (fitted.misfit) return unknown_start(*fitted.misfit);
  if (!known.permission) return unknown_start(known.permission.error());
  return forecast::start_of(known.scheduler->expect(submission_of(fitted.prepared)));
}

// The model with the site's grace time and the user's assumptions, which have been checked.
reliability::Model model_of(const sched::PartitionInfo* partition,
                            const std::vector<std::string>& assume) {
  reliability::Model model;
  Diagnostics problems;
  set_model({}, model, problems);
  if (partition != nullptr)
    model.policy.grace = Seconds(static_cast<double>(partition->grace_seconds));
  for (const std::string& text : assume)
    set_by_names("--assume", text, Settable::policy_and_failures, model, problems);
  return model;
}

}  // namespace

KnownSite query_site() {
  KnownSite known;
  known.limits = std::make_shared<std::map<Charged, sched::SiteLimits>>();
  auto scheduler = plugin::load_scheduler();
  const auto asked =
      scheduler ? ask(**scheduler, known) : Result<void>(tl::unexpected<Error>(scheduler.error()));
  if (asked)
    known.scheduler = *std::move(scheduler);
  else
    known.why_not = asked.error();
  return known;
}

Result<RunForecast> foresee(const JobOptions& options,
                            const std::vector<std::string>& command,
                            const KnownSite& site,
                            const std::vector<std::string>& assume) {
  DTS_ASSIGN(Asked asked, make_spec(options, command));
  launch::make_absolute(asked.spec);
  RunForecast foreseen;
  foreseen.settings = asked.settings;
  DTS_ASSIGN(Fitted fitted, fit(std::move(asked), site));
  forecast::Start start = start_of(fitted, site);
  foreseen.prepared = std::move(fitted.prepared);
  const Prepared& prepared = foreseen.prepared;
  const forecast::Site* known = site.scheduler == nullptr ? nullptr : &site.site;
  const auto* partition =
      known == nullptr ? nullptr : forecast::partition_of(*known, prepared.spec, start);
  foreseen.outlook = forecast::predict_outlook({prepared.spec, prepared.plan, prepared.parts},
                                               known,
                                               std::move(start),
                                               model_of(partition, assume));
  return foreseen;
}

}  // namespace dts::cli
