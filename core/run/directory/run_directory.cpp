// SPDX-License-Identifier: Apache-2.0
#include "core/run/directory/run_directory.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/hash.hpp"
#include "core/base/text/text.hpp"
#include "core/run/directory/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <future>
#include <tuple>

namespace dts::run {
namespace {

constexpr std::string_view k_attempt = "attempt-";
constexpr std::string_view k_step = "step-";
constexpr int k_deepest = 2;  // levels of folders below checkpoints/ that are searched

// No process reads the folder before it has its final name.
Result<void> write_all(const RunDirectory& staging, const Files& files) {
  const std::pair<std::string, const std::string&> all[] = {
      {staging.spec(), files.spec},
      {staging.plan(), files.plan},
      {staging.script(), files.script},
      {staging.provenance(), files.provenance},
      {staging.diff(), files.diff},
      {staging.sweep(), files.sweep},
      {staging.element(), files.element},
      {staging.ledger(), files.ledger}};
  for (const auto& [path, text] : all)
    if (!text.empty()) DTS_TRY(create_file(path, text));
  return {};
}

Result<void> fill(const RunDirectory& staging, const Files& files) {
  DTS_TRY(write_all(staging, files));
  if (files.more) DTS_TRY(files.more(staging));
  for (const Files& part : files.parts) {
    const RunDirectory below{staging.path + "/" + part.folder};
    DTS_TRY(make_folders(below.path));
    DTS_TRY(fill(below, part));
  }
  return make_folders(staging.checkpoints());
}

// "<name>-<time>-<id>" -> "<time>-<id>"; the name itself may contain dashes.
std::string time_part(const std::string& path) {
  const std::size_t id = path.rfind('-');
  const std::size_t time =
      id == std::string::npos || id == 0 ? std::string::npos : path.rfind('-', id - 1);
  return time == std::string::npos ? path : path.substr(time + 1);
}

constexpr std::uint64_t k_ticks = std::uint64_t{1} << 24;  // per second: six hex digits

// The time in ticks, always later than at the previous call, even within one second.
std::uint64_t next_tick(std::chrono::system_clock::time_point now) {
  static std::atomic<std::uint64_t> last{0};
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  const auto part = std::chrono::nanoseconds(now - second).count();
  const auto wanted = static_cast<std::uint64_t>(second.time_since_epoch().count()) * k_ticks +
                      static_cast<std::uint64_t>(part) * k_ticks / 1'000'000'000U;
  std::uint64_t before = last;
  std::uint64_t tick = 0;
  do {
    const bool crowded = before / k_ticks == wanted / k_ticks && before >= wanted;
    tick = crowded ? before + 1 : wanted;
  } while (!last.compare_exchange_weak(before, tick));
  return tick;
}

}  // namespace

bool is_run_directory(const std::string& path) {
  const RunDirectory run{path};
  return exists(run.ledger()) || exists(run.plan());
}

std::string run_name(const RunDirectory& run) {
  const std::size_t slash = run.path.rfind('/');
  std::string name = run.path.substr(slash + 1);
  if (slash == std::string::npos || !parse_number(name)) return name;
  return run_name(RunDirectory{run.path.substr(0, slash)}) + "-" + name;
}

bool is_older(const RunDirectory& a, const RunDirectory& b) {
  return time_part(a.path) < time_part(b.path);
}

std::string run_name(const std::string& name, std::chrono::system_clock::time_point now) {
  const std::uint64_t tick = next_tick(now);
  const auto seconds = static_cast<std::time_t>(tick / k_ticks);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char time[32];
  std::strftime(time, sizeof time, "%Y%m%dT%H%M%S", &parts);
  return fmt::format("{}-{}-{:06x}", name, time, tick % k_ticks);
}

Result<RunDirectory> create_run_directory(const std::string& root,
                                          const std::string& run,
                                          const Files& files) {
  DTS_TRY(make_folders(root));
  const RunDirectory final_place{absolute_path(root + "/" + run)};
  // Two processes may create the directory of the same element of a sweep.
  const RunDirectory staging{absolute_path(root + "/.new-" + run + "-" + random_hex(4))};
  if (::mkdir(staging.path.c_str(), 0700) != 0)
    return fail_errno("cannot create folder " + staging.path);
  auto filled = fill(staging, files);
  if (filled && ::rename(staging.path.c_str(), final_place.path.c_str()) != 0)
    filled = fail_errno("cannot create folder " + final_place.path);
  if (!filled) {
    [[maybe_unused]] const auto removed = remove_all(staging.path);  // the first error is reported
    return tl::unexpected<Error>(std::move(filled).error());
  }
  return final_place;
}

Result<void> sync_run_directory(const RunDirectory& run) {
  DTS_TRY(sync_folder_tree(run.path));
  return sync_folder(run.path + "/..");
}

namespace {

// Only within an existing folder, so that a run directory that was moved away does not reappear
// empty.
Result<void> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail_errno("cannot create " + path);
}

// The fence is only ever raised: an agent that won the epoch file may be slower here.
Result<void> raise_fence(const RunDirectory& run, unsigned number) {
  DTS_TRY(make_folder(run.checkpoints()));
  const UniqueFd lock = lock_file(run.ledger());
  const std::string fence = run.checkpoints() + "/fence";
  const auto text = read_own_file(fence);
  const auto now = text ? parse_number(trim(*text)) : std::nullopt;
  if (now && *now >= number) return {};
  return write_file(fence, std::to_string(number) + "\n", 0600, Durability::deferred);
}

}  // namespace

unsigned latest_attempt(const RunDirectory& run) {
  unsigned latest = 0;
  for (const std::string& name : list_folder(run.path)) {
    if (name.rfind(k_attempt, 0) != 0) continue;
    const auto number = parse_number(std::string_view(name).substr(k_attempt.size()));
    if (number && *number > latest && *number < 1'000'000 &&
        exists(run.path + "/" + name + "/epoch"))
      latest = static_cast<unsigned>(*number);
  }
  return latest;
}

Result<unsigned> take_attempt(const RunDirectory& run, const std::string& lease) {
  for (unsigned number = latest_attempt(run) + 1; number < 1'000'000; ++number) {
    DTS_TRY(make_folder(run.attempt(number)));
    const std::string epoch = run.attempt(number) + "/epoch";
    UniqueFd fd(::open(epoch.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd.valid() && errno == EEXIST) continue;  // another agent was first
    if (!fd.valid()) return fail_errno("cannot create " + epoch);
    if (::write(fd.get(), lease.data(), lease.size()) != static_cast<ssize_t>(lease.size())) {
      const auto error = fail_errno("cannot write " + epoch);
      ::unlink(epoch.c_str());
      return error;
    }
    DTS_TRY(raise_fence(run, number));
    return number;
  }
  return fail(Errc::invalid, "too many attempts in " + run.path);
}

Result<void> sync_attempt(const RunDirectory& run, unsigned number) {
  auto fence =
      std::async(std::launch::async, [&run] { return sync_folder_tree(run.checkpoints()); });
  auto parent = std::async(std::launch::async, [&run] { return sync_folder(run.path); });
  auto epoch = sync_folder_tree(run.attempt(number));
  auto raised = fence.get();
  auto linked = parent.get();
  if (!epoch) return epoch;
  return raised ? linked : raised;
}

namespace {

bool is_temporary(std::string_view name) {
  return name.find(".tmp") != std::string_view::npos;
}

// "step-000000120", "step-120.pt"; "step-last" names no step.
bool names_step(std::string_view name) {
  return name.size() > k_step.size() && name.starts_with(k_step) && name[k_step.size()] >= '0' &&
         name[k_step.size()] <= '9';
}

// The step's digits without leading zeros; empty for step 0 and for other names.
std::string_view step_digits(std::string_view name) {
  if (!names_step(name)) return {};
  name.remove_prefix(k_step.size());
  name = name.substr(0, name.find_first_not_of("0123456789"));
  name.remove_prefix(std::min(name.find_first_not_of('0'), name.size()));
  return name;
}

}  // namespace

bool is_later_checkpoint(const std::string& a, const std::string& b) {
  const std::string_view step_a = step_digits(a);
  const std::string_view step_b = step_digits(b);
  return std::tuple(step_a.size(), step_a, a) > std::tuple(step_b.size(), step_b, b);
}

std::string newest_checkpoint(const RunDirectory& run) {
  std::string newest;
  for (std::string& name : list_folder(run.checkpoints()))
    if (names_step(name) && !is_temporary(name) && is_later_checkpoint(name, newest))
      newest = std::move(name);
  return newest;
}

std::string read_metrics(const RunDirectory& run) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 32;
  return read_own_file(run.metrics(), k_most, Others::may_write).value_or("");
}

namespace {

namespace fs = std::filesystem;

// True if `checkpoints/` has a file that is newer than `time`, or a folder too deep to look into;
// other folders are as new as what was last removed from them. `named_by_step`: entries whose names
// are steps count, too.
bool has_newer(const RunDirectory& run, fs::file_time_type time, bool named_by_step) {
  std::error_code failed;
  fs::recursive_directory_iterator entry(
      run.checkpoints(), fs::directory_options::skip_permission_denied, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename();
    std::error_code gone;
    const auto written = entry->last_write_time(gone);
    const bool is_none =
        is_temporary(name) || (!named_by_step && entry.depth() == 0 && names_step(name));
    const bool is_deepest = entry.depth() >= k_deepest;
    const bool counts = !is_none && name != "fence" && (is_deepest || !entry->is_directory(gone));
    if (counts && !gone && written > time) return true;
    if (is_none || is_deepest) entry.disable_recursion_pending();
  }
  return false;
}

std::optional<std::chrono::system_clock::time_point> time_of(const std::string& file) {
  struct stat info {};

  if (::stat(file.c_str(), &info) != 0) return std::nullopt;
  return std::chrono::system_clock::from_time_t(info.st_mtime);
}

}  // namespace

std::optional<std::chrono::system_clock::time_point> last_report(const RunDirectory& run) {
  return time_of(run.metrics());
}

std::optional<std::chrono::system_clock::time_point> began(const RunDirectory& run) {
  return time_of(run.attempt(1) + "/epoch");
}

bool saves_otherwise(const RunDirectory& run, unsigned attempt) {
  std::error_code failed;
  const auto began = fs::last_write_time(run.attempt(attempt) + "/epoch", failed);
  return !failed && has_newer(run, began, false);
}

std::optional<fs::file_time_type> time_of_last_event(const RunDirectory& run) {
  std::error_code failed;
  const auto time = fs::last_write_time(run.ledger(), failed);
  return failed ? std::nullopt : std::optional(time);
}

bool has_saved_after(const RunDirectory& run, fs::file_time_type time) {
  return has_newer(run, time, true);
}

}  // namespace dts::run
