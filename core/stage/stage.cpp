// SPDX-License-Identifier: Apache-2.0
#include "core/stage/stage.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/hash.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/duration.hpp"
#include "core/base/text/text.hpp"
#include "core/stage/copy_tree.hpp"
#include "core/stage/scan.hpp"
#include "core/stage/stage_folder.hpp"
#include "core/stage/unpack.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace dts::stage {
namespace {

struct Work {
  CopyPlan copy;
  std::vector<ArchiveToUnpack> archives;
  std::uint64_t archive_bytes = 0;
};

// After a reboot of the node, data written before it may be missing on the disk even if the files
// are there.
Result<void> begin_folder(const std::string& folder) {
  const std::string boot = read_file("/proc/sys/kernel/random/boot_id").value_or("");
  const std::string file = folder + "/boot";
  if (read_file(file, 1U << 10).value_or("") != boot) {
    DTS_TRY(remove_all(folder + "/data"));
    DTS_TRY(write_file(file, boot));
  }
  return make_folders(folder + "/data");
}

Result<void> plan_archive(const spec::StageItem& item,
                          const StageOrder& order,
                          const Tree& tree,
                          Work& work) {
  ArchiveToUnpack archive;
  archive.option = "--stage " + spec::to_text(item);
  archive.source = tree.root;
  archive.target = order.folder + "/data/" + item.target;
  archive.mark = fmt::format("{}/unpacked-{}", order.folder, to_hex(hash64(item.target)));
  archive.entry = tree.entries.front();
  if (archive.entry.kind != EntryKind::file)
    return fail(Errc::invalid, fmt::format("{}: {} is not a file", archive.option, tree.root));
  if (is_unpacked(archive)) {
    work.copy.kept += archive.entry.size;
    return {};
  }
  DTS_TRY(remove_all(archive.target));  // before free space is checked, as it frees some
  work.archive_bytes += archive.entry.size;
  work.archives.push_back(std::move(archive));
  return {};
}

Result<Work> plan_work(const StageOrder& order) {
  Diagnostics problems;
  std::vector<Tree> trees;
  for (const spec::StageItem& item : order.items)
    trees.push_back(scan(item.source, "--stage " + spec::to_text(item), problems));
  if (!problems.empty()) return tl::unexpected<Error>(to_error(problems, Errc::io));
  Work work;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const spec::StageItem& item = order.items[i];
    const std::string target = order.folder + "/data/" + item.target;
    DTS_TRY(make_folders(target.substr(0, target.rfind('/'))));
    if (item.unpack)
      DTS_TRY(plan_archive(item, order, trees[i], work));
    else
      DTS_TRY(prepare_tree(trees[i], target, "--stage " + spec::to_text(item), work.copy));
  }
  return work;
}

// An archive needs at least as much space as its own size.
Result<void> check_space(const Work& work, const std::string& folder) {
  struct statvfs disk {};

  if (::statvfs(folder.c_str(), &disk) != 0) return fail_errno("cannot look at " + folder);
  const std::uint64_t free = disk.f_bavail * disk.f_frsize;
  const std::uint64_t needed = work.copy.need.disk + work.archive_bytes;
  constexpr const char* k_hint =
      "DTSUBMIT_STAGE_BASE names another disk, and --tmp asks for nodes with more";
  if (needed > free)
    return fail(Errc::io,
                fmt::format("--stage needs {} in {}, {} are free",
                            format_bytes(needed),
                            folder,
                            format_bytes(free)),
                k_hint);
  const bool counts_files = disk.f_files > 0;  // btrfs does not count them
  if (counts_files && work.copy.need.files > disk.f_favail)
    return fail(Errc::io,
                fmt::format("--stage needs {} files in {}, {} can be made",
                            work.copy.need.files,
                            folder,
                            disk.f_favail),
                k_hint);
  return {};
}

// Syncs the whole file system of the folder: a single call for any number of files.
Result<void> sync_disk(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::syncfs(fd.get()) != 0) return fail_errno("cannot write " + folder);
  return {};
}

std::string failure_file(const std::string& folder) {
  return folder + "/failure";
}

// The lines and hints of several problems joined into one line; see to_error().
std::string in_one_line(const Error& error) {
  std::string all;
  for (std::string line : split(error.message, '\n')) {
    constexpr std::string_view k_help = "  help: ";
    if (line.empty() || line.ends_with(" problems:")) continue;
    if (line.starts_with(k_help))
      all += fmt::format(" ({})", line.substr(k_help.size()));
    else
      all += (all.empty() ? "" : "; ") + line;
  }
  const bool has_help = error.message.find('\n') != std::string::npos || !error.hint.empty();
  if (!all.starts_with("--stage")) all.insert(0, "--stage: ");
  if (!error.hint.empty()) all += fmt::format(" ({})", error.hint);
  if (!has_help) all += " (look at that path on the node, then `dtsubmit requeue` the run)";
  return all;
}

Result<void> stage_everything(const StageOrder& order, const Meter::Say& say) {
  const auto began = std::chrono::steady_clock::now();
  remove_left_stages(order.folder);
  DTS_TRY(begin_folder(order.folder));
  DTS_ASSIGN(const Work work, plan_work(order));
  DTS_TRY(check_space(work, order.folder));
  const std::uint64_t bytes = work.copy.need.bytes + work.archive_bytes;
  {
    Meter meter(order.folder, say);
    meter.begin(bytes);
    DTS_TRY(copy_files(work.copy, order.threads, meter));
    for (const ArchiveToUnpack& archive : work.archives) DTS_TRY(unpack(archive, meter));
  }
  DTS_TRY(sync_disk(order.folder));
  const Seconds took = std::chrono::steady_clock::now() - began;
  say(fmt::format("staged {} in {} ({}, {}) in {}; {} were there already",
                  format_bytes(bytes),
                  order.folder,
                  counted(work.copy.files.size(), "file"),
                  counted(work.archives.size(), "archive"),
                  format_duration(took),
                  format_bytes(work.copy.kept)));
  return {};
}

}  // namespace

Result<void> stage_all(const StageOrder& order, const Meter::Say& say) {
  DTS_TRY(remove_all(failure_file(order.folder)));
  auto staged = stage_everything(order, say);
  if (!staged)  // best effort: if the disk is full, the log has the error
    (void)write_file(failure_file(order.folder), in_one_line(staged.error()));
  return staged;
}

std::string read_failure(const std::string& folder) {
  return read_file(failure_file(folder), 1U << 16).value_or("");
}

}  // namespace dts::stage
