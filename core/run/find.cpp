// SPDX-License-Identifier: Apache-2.0
#include "core/run/find.hpp"

#include "core/base/files.hpp"
#include "core/base/text.hpp"
#include "core/run/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::run {
namespace {

// "<name>-<time>-<id>" -> "<time>-<id>"; the name may hold dashes itself.
std::string time_part(const std::string& path) {
  const std::size_t id = path.rfind('-');
  const std::size_t time =
      id == std::string::npos || id == 0 ? std::string::npos : path.rfind('-', id - 1);
  return time == std::string::npos ? path : path.substr(time + 1);
}

bool has_job(const RunDirectory& run, std::uint64_t job) {
  const auto events = read_ledger(run.ledger());
  return events && std::any_of(events->begin(), events->end(), [&](const Event& event) {
           return event.job == job;
         });
}

}  // namespace

std::vector<RunDirectory> list_runs(const std::string& root) {
  std::vector<RunDirectory> runs;
  for (const std::string& name : list_folder(root)) {
    RunDirectory run{absolute_path(root + "/" + name)};
    if (name.front() != '.' && exists(run.ledger())) runs.push_back(std::move(run));
  }
  std::stable_sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return time_part(a.path) < time_part(b.path);
  });
  return runs;
}

Result<RunDirectory> find_run(const std::string& root, const std::string& what) {
  if (what.find('/') != std::string::npos || what == ".") {
    RunDirectory run{absolute_path(what)};
    if (run.path.size() > 1 && run.path.back() == '/')
      run.path.pop_back();  // as a shell completes it
    if (exists(run.ledger())) return run;
    return fail(Errc::not_found,
                fmt::format("{} is not a run directory", what),
                "it would hold a ledger.jsonl");
  }
  const std::vector<RunDirectory> runs = list_runs(root);
  if (what == "last" && !runs.empty()) return runs.back();
  const auto job = parse_number(what);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (run->path.substr(run->path.rfind('/') + 1) == what || (job && has_job(*run, *job)))
      return *run;
  return fail(Errc::not_found,
              fmt::format("no run of `{}` in {}", what, absolute_path(root)),
              "give a job id, a run's folder or `last`, or --runs for another place");
}

}  // namespace dts::run
