// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/log_links.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/launch/job/allocation.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/job/element.hpp"
#include "core/script/log_link.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>

namespace dts::launch {
namespace {

std::string user_name() {
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_name : std::to_string(::getuid());
}

Result<void> link_log(const std::string& log, const std::string& link) {
  std::error_code failed;
  const std::string target = std::filesystem::read_symlink(link, failed);
  if (target == log) return {};
  if (!failed && !script::is_log(target))
    return fail(Errc::io,
                fmt::format("{} is a link to {}, which is not a log of dtsubmit", link, target),
                "remove it, or give another name");
  return make_link(log, link);
}

LoggedJob own_logged_job(const run::RunDirectory& run, const plan::Plan& plan) {
  LoggedJob job{plan.job_name, own_job(getenv_lookup)};
  if (const auto membership = read_membership(run); membership && !membership->array.empty())
    job.element = sweep::job_of_element(membership->array, membership->index);
  return job;
}

}  // namespace

Diagnostics link_logs(const spec::JobSpec& spec,
                      const run::RunDirectory& run,
                      const LoggedJob& job) {
  Diagnostics problems;
  const std::string log = script::log_path(run.path, job.job.text());
  for (const auto& [option, pattern] : spec.log_links) {
    const std::string link =
        script::log_link_path(pattern, {job.name, job.job.text(), user_name(), job.element.text()});
    if (const auto made = link_log(log, link); !made)
      problems.push_back({"--" + option,
                          fmt::format("{}; the log is {}", made.error().message, log),
                          made.error().hint});
  }
  return problems;
}

void link_own_logs(const run::RunDirectory& run) {
  const auto spec = read_spec(run);
  if (!spec || spec->log_links.empty()) return;
  const auto plan = read_plan(run);
  if (!plan) return;
  for (const Diagnostic& problem : link_logs(*spec, run, own_logged_job(run, *plan)))
    log("{}: {}", problem.where, problem.message);
}

void make_absolute(spec::JobSpec& spec) {
  const std::string folder = script::escape_pattern(absolute_path("."));
  for (auto& [option, pattern] : spec.log_links)
    if (!pattern.empty() && pattern.front() != '/') pattern.insert(0, folder + "/");
}

}  // namespace dts::launch
