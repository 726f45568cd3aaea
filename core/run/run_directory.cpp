// SPDX-License-Identifier: Apache-2.0
#include "core/run/run_directory.hpp"

#include "core/base/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/text.hpp"
#include "core/base/unique_fd.hpp"
#include "core/run/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <future>

namespace dts::run {
namespace {

constexpr std::string_view k_attempt = "attempt-";

// Nobody reads the folder before it has its name.
Result<void> fill(const RunDirectory& staging, const Files& files) {
  DTS_TRY(create_file(staging.spec(), files.spec));
  DTS_TRY(create_file(staging.plan(), files.plan));
  if (!files.script.empty()) DTS_TRY(create_file(staging.script(), files.script));
  DTS_TRY(create_file(staging.provenance(), files.provenance));
  DTS_TRY(create_file(staging.ledger(), files.ledger));
  return make_folders(staging.checkpoints());
}

}  // namespace

std::string run_name(const std::string& name, std::chrono::system_clock::time_point now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char time[32];
  std::strftime(time, sizeof time, "%Y%m%dT%H%M%S", &parts);
  return fmt::format("{}-{}-{}", name, time, random_hex(3));
}

Result<RunDirectory> create_run_directory(const std::string& root,
                                          const std::string& run,
                                          const Files& files) {
  DTS_TRY(make_folders(root));
  const RunDirectory final_place{absolute_path(root + "/" + run)};
  const RunDirectory staging{absolute_path(root + "/.new-" + run)};
  if (::mkdir(staging.path.c_str(), 0700) != 0)
    return fail_errno("cannot create folder " + staging.path);
  auto filled = fill(staging, files);
  if (filled && ::rename(staging.path.c_str(), final_place.path.c_str()) != 0)
    filled = fail_errno("cannot create folder " + final_place.path);
  if (!filled) {
    [[maybe_unused]] const auto removed =
        remove_all(staging.path);  // the first error is the one to tell
    return tl::unexpected<Error>(std::move(filled).error());
  }
  return final_place;
}

Result<void> sync_run_directory(const RunDirectory& run) {
  DTS_TRY(sync_folder_tree(run.path));
  return sync_folder(run.path + "/..");
}

namespace {

// The fence only ever rises: an agent that was faster at the epoch file may be slower here.
Result<void> raise_fence(const RunDirectory& run, unsigned number) {
  DTS_TRY(make_folders(run.checkpoints()));
  const UniqueFd lock = lock_file(run.ledger());
  const std::string fence = run.checkpoints() + "/fence";
  const auto text = read_file(fence);
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
    DTS_TRY(make_folders(run.attempt(number)));
    const std::string epoch = run.attempt(number) + "/epoch";
    UniqueFd fd(::open(epoch.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd.valid() && errno == EEXIST) continue;  // another agent was faster
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

std::string newest_checkpoint(const RunDirectory& run) {
  std::string newest;
  for (const std::string& name : list_folder(run.checkpoints()))
    if (name.rfind("step-", 0) == 0 && name.find(".tmp") == std::string::npos && name > newest)
      newest = name;
  return newest;
}

}  // namespace dts::run
