// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/own_job.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/element.hpp"
#include "core/run/directory/parts.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/run/ledger/newest_job.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace dts::launch {
namespace {

namespace fs = std::filesystem;

fs::path resolved(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  return error ? folder : whole;
}

// The last components of a folder's path. An element's own name, "5", is only unique within its
// sweep.
fs::path name_of(const fs::path& folder, bool is_element) {
  return is_element ? folder.parent_path().filename() / folder.filename() : folder.filename();
}

bool is_same(const fs::path& run, const fs::path& folder, bool is_element) {
  const fs::path name = name_of(folder, is_element);
  return name == name_of(run, is_element) || name == name_of(resolved(run), is_element);
}

// The word that shell_quote() wrote at the beginning of `text`.
std::string first_word(std::string_view text) {
  std::string word;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'')
      is_quoted = !is_quoted;
    else if (!is_quoted && text[i] == '\\' && i + 1 < text.size())
      word += text[++i];
    else if (!is_quoted && std::string_view(" \t\n;&|").find(text[i]) != std::string_view::npos)
      break;
    else
      word += text[i];
  }
  return word;
}

// The folder of the run whose agent the script in this run's folder starts.
std::optional<std::string> made_for(const run::RunDirectory& run) {
  constexpr std::string_view k_words = " agent --run ";
  const auto text = read_own_file(run.script());
  const std::size_t at = text ? text->rfind(k_words) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  return first_word(std::string_view(*text).substr(at + k_words.size()));
}

// True if the script in the run's folder starts the agent of the run in the folder of `job_script`:
// the run has been renamed since.
bool is_renamed(const run::RunDirectory& run, const fs::path& job_script) {
  const fs::path own = run.script();
  return job_script.filename() == own.filename() &&
         made_for(run) == job_script.parent_path().string();
}

// Names the owner of a job: a run by its folder, any other job by its script.
std::string whose(const run::RunDirectory& run, const sched::JobInfo& job) {
  const fs::path script = job.script_path.value_or("");
  const bool is_run = script.filename() == fs::path(run.script()).filename();
  const fs::path shown = is_run ? script.parent_path() : script;
  return shown.empty() ? "" : " (" + shown.string() + ")";
}

// The sweep that an element is of.
run::RunDirectory sweep_of(const run::RunDirectory& element) {
  return {fs::path(element.path).parent_path().string()};
}

// True if an element has no other job than that of its array, which has the sweep's script.
bool is_in_array(const run::RunDirectory& element) {
  const auto membership = read_membership(element);
  const auto events = run::read_ledger(element.ledger());
  return membership && events &&
         run::newest_job(*events) == sweep::job_of_element(membership->array, membership->index);
}

// The folder that the run's own script was made for, if that is another one.
std::optional<std::string> other_folder(const run::RunDirectory& run) {
  const auto folder = made_for(run);
  std::error_code error;
  const bool is_here = !folder || *folder == run.path || fs::equivalent(*folder, run.path, error);
  return is_here ? std::nullopt : folder;
}

tl::unexpected<Error> another_job(const run::RunDirectory& run, const sched::JobInfo& job) {
  return fail(
      Errc::not_found,
      fmt::format("the job of {} is lost: {} is the id of another job now{}",
                  run.path,
                  job.id,
                  whose(run, job)),
      fmt::format("`dtsubmit requeue {}` continues the run in a new job", shell_quote(run.path)));
}

}  // namespace

bool is_of_run(const run::RunDirectory& part, const sched::JobInfo& job) {
  if (!job.script_path) return true;
  const run::RunDirectory run = run::whole_of(part);
  const fs::path script = *job.script_path;
  const fs::path folder = script.parent_path();
  if (!is_element(run)) return is_same(run.path, folder, false) || is_renamed(run, script);
  // The job of its array has the sweep's script; a job that continues the element has its own.
  const run::RunDirectory sweep = sweep_of(run);
  return is_same(sweep.path, folder, false) || is_same(run.path, folder, true) ||
         is_renamed(sweep, script) || is_renamed(run, script);
}

std::optional<std::string> earlier_folder(const run::RunDirectory& run) {
  auto folder = other_folder(run);
  if (folder || !is_element(run) || !is_in_array(run)) return folder;
  folder = other_folder(sweep_of(run));
  if (folder) *folder += "/" + fs::path(run.path).filename().string();
  return folder;
}

Result<void> check_not_a_copy(const run::RunDirectory& run) {
  if (is_element(run)) DTS_TRY(check_not_a_copy(sweep_of(run)));
  const auto earlier = earlier_folder(run);
  if (!earlier || !exists(run::RunDirectory{*earlier}.ledger())) return {};
  return fail(Errc::invalid,
              fmt::format("{} is a copy of {}, whose job this is", run.path, *earlier),
              "name that run; if it is removed, the copy takes its place");
}

bool has_script(const sched::JobInfo& job, const std::optional<std::string>& script) {
  return !script || !job.script_path || *job.script_path == *script;
}

Result<sched::JobInfo> job_of_run(sched::Scheduler& scheduler,
                                  const run::RunDirectory& run,
                                  const sched::JobId& job) {
  auto info = scheduler.job(job);
  if (info && !is_of_run(run, *info)) return another_job(run, *info);
  return info;
}

Result<bool> cancel_job_of_run(sched::Scheduler& scheduler,
                               const run::RunDirectory& run,
                               const sched::JobId& job,
                               const sched::Patience& patience) {
  bool was_over = true;  // or forgotten
  const auto check = [&](const sched::JobInfo& info) -> Result<void> {
    if (!is_of_run(run, info)) return another_job(run, info);
    was_over = sched::is_terminal(info.state) && !info.completing;
    return {};
  };
  DTS_TRY(sched::cancel_for_certain(scheduler, job, patience, check));
  return !was_over;
}

}  // namespace dts::launch
