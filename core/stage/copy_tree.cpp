// SPDX-License-Identifier: Apache-2.0
#include "core/stage/copy_tree.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/stage/copy_part.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace dts::stage {
namespace {

using Status = struct stat;

constexpr mode_t k_readable = 0400;  // added to the source's mode, since we own the copy
constexpr mode_t k_enterable = 0700;

std::optional<Status> status_of(const std::string& path) {
  Status status{};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

bool is_copy_of(const Status& target, const Entry& entry) {
  return S_ISREG(target.st_mode) && static_cast<std::uint64_t>(target.st_size) == entry.size &&
         is_same_time(target.st_mtim, entry.changed);
}

Result<void> prepare_folder(const std::string& target, const Entry& entry, CopyPlan& plan) {
  const auto there = status_of(target);
  if (there && !S_ISDIR(there->st_mode)) DTS_TRY(remove_all(target));
  if (!there || !S_ISDIR(there->st_mode)) {
    ++plan.need.files;
    if (::mkdir(target.c_str(), k_enterable) != 0) return fail_errno("cannot make " + target);
  }
  if (::chmod(target.c_str(), entry.mode | k_enterable) != 0)
    return fail_errno("cannot change " + target);
  return {};
}

Result<void> prepare_link(const std::string& target, const Entry& entry, CopyPlan& plan) {
  ++plan.need.files;
  DTS_TRY(remove_all(target));
  if (::symlink(entry.link_target.c_str(), target.c_str()) != 0)
    return fail_errno("cannot make the link " + target);
  return {};
}

// A file whose parts are being copied.
struct Left {
  std::atomic<std::uint64_t> parts = 0;
};

// Call it once all parts of the file are copied.
Result<void> finish_file(const FileToCopy& file) {
  const auto source = status_of(file.source);
  if (!source || !is_copy_of(*source, file.entry))
    return fail(Errc::io,
                fmt::format("{} changed while it was copied", file.source),
                "stage what nobody writes to");
  const timespec times[2] = {{0, UTIME_OMIT}, file.entry.changed};
  const UniqueFd fd(::open(file.target.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  const bool done = fd.valid() && ::ftruncate(fd.get(), source->st_size) == 0 &&
                    ::fchmod(fd.get(), file.entry.mode | k_readable) == 0 &&
                    ::futimens(fd.get(), times) == 0;
  if (!done) return fail_errno("cannot write " + file.target);
  return {};
}

class Copying {
 public:
  Copying(const CopyPlan& plan, Meter& meter)
      : plan_(plan), meter_(meter), left_(std::make_unique<Left[]>(plan.files.size())) {
    for (std::size_t i = 0; i < plan.files.size(); ++i) {
      const std::uint64_t size = plan.files[i].entry.size;
      left_[i].parts = std::max<std::uint64_t>(1, (size + k_part - 1) / k_part);
      for (std::uint64_t begin = 0; begin == 0 || begin < size; begin += k_part)
        parts_.push_back({i, {begin, std::min(size, begin + k_part)}});
    }
  }

  Result<void> run(unsigned threads) {
    std::vector<std::thread> others;
    threads = static_cast<unsigned>(std::min<std::size_t>(threads, parts_.size()));
    for (unsigned i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& other : others) other.join();
    if (failure_) return tl::unexpected<Error>(*std::move(failure_));
    return {};
  }

 private:
  struct Part {
    std::size_t file = 0;
    Range range;
  };

  void work() {
    while (!failed_) {
      const std::size_t next = next_++;
      if (next >= parts_.size()) return;
      if (auto copied = copy(parts_[next]); !copied)
        on_failure(plan_.files[parts_[next].file], std::move(copied).error());
    }
  }

  Result<void> copy(const Part& part) {
    const FileToCopy& file = plan_.files[part.file];
    DTS_TRY(copy_part(
        file.source, file.target, part.range, [this](std::uint64_t bytes) { meter_.add(bytes); }));
    return --left_[part.file].parts == 0 ? finish_file(file) : Result<void>();
  }

  void on_failure(const FileToCopy& file, Error error) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(error).during(file.option);
    failed_ = true;
  }

  const CopyPlan& plan_;
  Meter& meter_;
  std::unique_ptr<Left[]> left_;  // by file
  std::vector<Part> parts_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::optional<Error> failure_;
};

Result<void> prepare_file(const Tree& tree,
                          const std::string& path,
                          const Entry& entry,
                          const std::string& option,
                          CopyPlan& plan) {
  const auto there = status_of(path);
  if (there && is_copy_of(*there, entry)) {
    plan.kept += entry.size;
    return {};
  }
  if (there) DTS_TRY(remove_all(path));
  plan.files.push_back({tree.path_of(entry), path, entry, option});
  plan.need.bytes += entry.size;
  plan.need.disk += entry.on_disk;
  ++plan.need.files;
  return {};
}

Result<void> prepare_entry(const Tree& tree,
                           const Entry& entry,
                           const std::string& target,
                           const std::string& option,
                           CopyPlan& plan) {
  const std::string path = entry.name.empty() ? target : target + "/" + entry.name;
  switch (entry.kind) {
    case EntryKind::folder:
      return prepare_folder(path, entry, plan);
    case EntryKind::link:
      return prepare_link(path, entry, plan);
    case EntryKind::file:
      break;
  }
  return prepare_file(tree, path, entry, option, plan);
}

}  // namespace

Result<void> prepare_tree(const Tree& tree,
                          const std::string& target,
                          const std::string& option,
                          CopyPlan& plan) {
  for (const Entry& entry : tree.entries) DTS_TRY(prepare_entry(tree, entry, target, option, plan));
  return {};
}

Result<void> copy_files(const CopyPlan& plan, unsigned threads, Meter& meter) {
  return Copying(plan, meter).run(threads);
}

}  // namespace dts::stage
