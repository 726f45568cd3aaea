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

std::string read_metrics(const RunDirectory& run) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 32;
  return read_own_file(run.metrics(), k_most, Others::may_write).value_or("");
}

}  // namespace dts::run
