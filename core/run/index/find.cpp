// SPDX-License-Identifier: Apache-2.0
#include "core/run/index/find.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/text/text.hpp"
#include "core/run/ledger/ledger.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <optional>
#include <string_view>

namespace dts::run {
namespace {

bool has_job(const RunDirectory& run, const JobId& job) {
  const auto events = read_ledger(run.ledger());
  return events && std::any_of(events->begin(), events->end(), [&](const Event& event) {
           return event.job == job;
         });
}

// The runs below a folder; other users' runs are separate.
struct Found {
  std::vector<RunDirectory> runs{};    // oldest first
  std::vector<Error> refused{};        // one for each run that others can access
  std::vector<std::string> foreign{};  // their names, in the same order
};

Found look_below(const std::string& root) {
  Found found;
  for (const std::string& name : list_folder(root)) {
    RunDirectory run{absolute_path(root + "/" + name)};
    if (name.front() == '.' || !is_run_directory(run.path)) continue;
    if (auto own = open_own_folder(run.path); !own) {
      found.refused.push_back(std::move(own).error());
      found.foreign.push_back(name);
    } else {
      found.runs.push_back(std::move(run));
    }
  }
  std::stable_sort(found.runs.begin(), found.runs.end(), is_older);
  return found;
}

// Whether that is a name of a run of jobs named `job`: JOB-20261129T220148-b90f3d.
bool is_of_job_name(const std::string& run, const std::string& job) {
  constexpr std::string_view k_rest = "-00000000T000000-000000";
  if (!run.starts_with(job)) return false;
  return std::ranges::equal(k_rest, std::string_view(run).substr(job.size()), [](char a, char b) {
    return a == '0' ? std::isxdigit(static_cast<unsigned char>(b)) != 0 : a == b;
  });
}

}  // namespace

std::vector<RunDirectory> list_runs(const std::string& root) {
  return look_below(root).runs;
}

Result<RunDirectory> open_run(const std::string& folder) {
  RunDirectory run{absolute_path(folder)};
  while (run.path.size() > 1 && run.path.back() == '/')
    run.path.pop_back();  // as a shell's completion adds it
  if (::access(run.path.c_str(), X_OK) != 0 && errno == EACCES)
    return fail(Errc::io,
                fmt::format("cannot read {}: Permission denied", folder),
                "only its owner can read a run directory");
  const bool is_one = is_run_directory(run.path);
  for (const std::string& file : {run.ledger(), run.plan()})
    if (!is_one && !is_gone(file)) return fail_errno("cannot read " + file);
  if (!is_one)
    return fail(Errc::not_found,
                fmt::format("{} is not a run directory", folder),
                "it would hold a ledger.jsonl");
  DTS_TRY(open_own_folder(run.path));
  return run;
}

Result<RunDirectory> find_run(const std::string& root, const std::string& what) {
  if (what.find('/') != std::string::npos || what == ".") return open_run(what);
  // The folder itself may be shared or belong to another user: its runs are checked one by one.
  DTS_TRY(check_own_link(root));
  Found found = look_below(root);
  if (what == "last" && !found.runs.empty()) return found.runs.back();
  const auto job = JobId::parse(what);
  const auto newest = [&](const auto& is_it) -> const RunDirectory* {
    const auto run = std::find_if(found.runs.rbegin(), found.runs.rend(), is_it);
    return run == found.runs.rend() ? nullptr : &*run;
  };
  const RunDirectory* run = newest([&](const RunDirectory& one) { return run_name(one) == what; });
  if (run == nullptr && job)  // this reads every ledger
    run = newest([&](const RunDirectory& one) { return has_job(one, *job); });
  if (run != nullptr) return *run;
  // The ledger of another user's run is not searched for the job, so that run may be the one meant.
  for (std::size_t i = 0; i < found.refused.size(); ++i)
    if (what == "last" || (job && job->number()) || found.foreign[i] == what)
      return tl::unexpected<Error>(std::move(found.refused[i]));
  return fail(
      Errc::not_found,
      what == "last" ? fmt::format("no runs in {}", absolute_path(root))
                     : fmt::format("no run of `{}` in {}", what, absolute_path(root)),
      "name a job id, a run's name or folder, the name of a job or `last`; --runs names another "
      "folder of runs");
}

std::optional<Result<RunDirectory>> find_job_name(const std::string& root, const std::string& job) {
  constexpr std::size_t k_most_listed = 4;
  if (job.find_first_not_of("0123456789_+") == std::string::npos) return std::nullopt;
  const std::vector<RunDirectory> runs = list_runs(root);
  std::vector<std::string> names;
  const RunDirectory* found = nullptr;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (!is_of_job_name(run_name(*run), job)) continue;
    if (found == nullptr) found = &*run;
    names.push_back(run_name(*run));
  }
  if (names.empty()) return std::nullopt;
  if (names.size() == 1) return *found;
  const std::string message =
      fmt::format("{} runs in {} are named `{}`", names.size(), absolute_path(root), job);
  const bool are_more = names.size() > k_most_listed;
  names.resize(std::min(names.size(), k_most_listed));
  return fail(
      Errc::not_found,
      message,
      fmt::format(
          "name one of them, newest first: {}{}", join(names, ", "), are_more ? ", ..." : ""));
}

}  // namespace dts::run
