// SPDX-License-Identifier: Apache-2.0
#include "core/run/index/index.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/text/json_bytes.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/run/directory/file_lock.hpp"
#include "core/run/index/find.hpp"
#include "core/run/ledger/ledger.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace dts::run {
namespace {

using nlohmann::json;

constexpr std::uint64_t k_large_index = std::uint64_t{1} << 20;
constexpr std::uint64_t k_largest_index = std::uint64_t{64} << 20;
constexpr std::size_t k_kept = 2000;  // lines, of some 200 bytes each

Result<std::string> index_path() {
  DTS_ASSIGN(const std::string state, state_folder());
  return state + "/runs.jsonl";
}

std::optional<Indexed> parse_line(std::string_view line) {
  const json j = json::parse(line, nullptr, false);
  if (!j.is_object()) return std::nullopt;
  const auto text = [&](const char* key) {
    const auto found = j.find(key);
    return found != j.end() ? bytes_from_json(*found).value_or("") : std::string();
  };
  Indexed entry{text("run"), {}, text("cluster")};
  if (entry.folder.size() < 2 || entry.folder.front() != '/' || !is_printable(entry.folder))
    return std::nullopt;
  const auto job = j.find("job");
  if (job != j.end()) entry.job = job_id_from(*job).value_or(JobId());
  return entry;
}

}  // namespace

std::string to_line(const Indexed& entry) {
  nlohmann::ordered_json j{{"run", bytes_to_json(entry.folder)}};
  if (!entry.job.empty()) j["job"] = entry.job;
  if (!entry.cluster.empty()) j["cluster"] = bytes_to_json(entry.cluster);
  return json_line(j);
}

std::vector<Indexed> parse_index(std::string_view text) {
  std::vector<Indexed> entries;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto entry = parse_line(text.substr(0, end))) entries.push_back(*std::move(entry));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return entries;
}

namespace {

// True if `what` denotes the entry. Does not handle "last", which depends on all entries.
bool means(const std::string& what, const Indexed& entry, const std::string& cluster) {
  const auto job = JobId::parse(what);
  return run_name(RunDirectory{entry.folder}) == what ||
         (job && entry.job == *job && entry.cluster == cluster);
}

}  // namespace

std::vector<std::string> matches(const std::vector<Indexed>& entries,
                                 const std::string& what,
                                 const std::string& cluster) {
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const bool fits = what == "last" || means(what, *entry, cluster);
    if (fits && seen.insert(entry->folder).second) found.push_back(entry->folder);
  }
  if (what == "last")  // requeueing an old run adds a line, but is not a new run
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return is_older({b}, {a});
    });
  return found;
}

Result<std::vector<Indexed>> read_index() {
  DTS_ASSIGN(const std::string path, index_path());
  const auto text = read_own_file(path, k_largest_index);
  if (text) return parse_index(*text);
  if (text.error().code == Errc::not_found) return std::vector<Indexed>();
  return tl::unexpected<Error>(text.error());
}

std::string index_damage() {
  const auto path = index_path();
  if (!path) return {};
  return damage_words(read_own_file(*path, k_largest_index).value_or(""),
                      *path,
                      [](std::string_view line) { return parse_line(line).has_value(); });
}

Result<void> add_to_index(const Indexed& entry) {
  DTS_ASSIGN(const std::string path, index_path());
  DTS_TRY(make_folders(path.substr(0, path.rfind('/'))));
  const UniqueFd locked = lock_beside(path);
  const auto before = read_own_file(path, k_largest_index);
  if (!before && before.error().code != Errc::not_found)
    return tl::unexpected<Error>(before.error());
  const std::string text = before.value_or("");
  // A line that a crash truncated must not swallow this one.
  const bool torn = !text.empty() && text.back() != '\n';
  DTS_TRY(append_line(path, (torn ? "\n" : "") + to_line(entry)));
  if (text.size() < k_large_index || !locked.valid()) return {};
  std::vector<Indexed> all = parse_index(text);
  all.push_back(entry);
  std::string kept;
  for (std::size_t i = all.size() - std::min(k_kept, all.size()); i < all.size(); ++i)
    kept += to_line(all[i]) + "\n";
  return write_file(path, kept);
}

std::string this_cluster() {
  for (const char* name : {"SLURM_CONF", "SLURM_CONF_SERVER"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return {};
}

Result<void> add_job_to_index(const RunDirectory& run, const JobId& job) {
  DTS_ASSIGN(const std::vector<Indexed> entries, read_index());
  std::string cluster = this_cluster();
  for (const Indexed& entry : entries)
    if (entry.folder == run.path) cluster = entry.cluster;
  return add_to_index({run.path, job, cluster});
}

std::optional<Indexed> gone_from_index(const std::string& what) {
  const auto entries = read_index();
  if (!entries) return std::nullopt;
  const bool is_folder = what.find('/') != std::string::npos;
  std::string folder = is_folder ? absolute_path(what) : "";
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();  // from a shell's completion
  const auto found = std::find_if(entries->rbegin(), entries->rend(), [&](const Indexed& entry) {
    return is_folder ? entry.folder == folder : means(what, entry, this_cluster());
  });
  if (found == entries->rend()) return std::nullopt;
  // Slurm 24.11 creates the folder anew for the log of a job that was in the queue.
  const RunDirectory run{found->folder};
  if (exists(run.script()) || exists(run.ledger())) return std::nullopt;
  return *found;
}

Result<RunDirectory> find_in_index(const std::string& what) {
  DTS_ASSIGN(const std::vector<Indexed> entries, read_index());
  for (const std::string& folder : matches(entries, what, this_cluster())) {
    auto run = open_run(folder);
    if (run || run.error().code != Errc::not_found)
      return run;  // otherwise it is gone; try an older one
  }
  return fail(Errc::not_found,
              fmt::format("no run of `{}` is known", what),
              "name a job id, a run's name or folder, or `last`; `dtsubmit list` shows them");
}

}  // namespace dts::run
