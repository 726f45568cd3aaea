// SPDX-License-Identifier: Apache-2.0
#include "core/stage/unpack.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/os/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>
#include <vector>

namespace dts::stage {
namespace {

std::string mark_text(const ArchiveToUnpack& archive) {
  return fmt::format("{} {}.{:09}\n{}\n",
                     archive.entry.size,
                     archive.entry.changed.tv_sec,
                     archive.entry.changed.tv_nsec,
                     archive.source);
}

// tar(1) cannot detect the compression of a pipe.
std::string flag_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, const char*>, 8> k_flags{{{".gz", "--gzip"},
                                                                             {".tgz", "--gzip"},
                                                                             {".zst", "--zstd"},
                                                                             {".tzst", "--zstd"},
                                                                             {".xz", "--xz"},
                                                                             {".txz", "--xz"},
                                                                             {".bz2", "--bzip2"},
                                                                             {".tbz2", "--bzip2"}}};
  for (const auto& [end, flag] : k_flags)
    if (name.ends_with(end)) return flag;
  return "";
}

// Writes the archive to tar's input. If tar ends early, its exit code shows why; here it only ends
// the writing.
Result<void> feed(int pipe, const ArchiveToUnpack& archive, Meter& meter) {
  const UniqueFd in(::open(archive.source.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.valid()) return fail_errno("cannot open " + archive.source);
  std::vector<char> block(std::size_t{1} << 20);
  while (true) {
    const ssize_t n = ::read(in.get(), block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("cannot read " + archive.source);
    if (n == 0) return {};
    for (ssize_t sent = 0; sent < n;) {
      const ssize_t m = ::write(pipe, block.data() + sent, static_cast<std::size_t>(n - sent));
      if (m < 0 && errno == EINTR) continue;
      if (m < 0) return {};
      sent += m;
    }
    meter.add(static_cast<std::uint64_t>(n));
  }
}

Result<void> check_unchanged(const ArchiveToUnpack& archive) {
  struct stat now {};

  if (::stat(archive.source.c_str(), &now) == 0 &&
      static_cast<std::uint64_t>(now.st_size) == archive.entry.size &&
      is_same_time(now.st_mtim, archive.entry.changed))
    return {};
  return fail(Errc::io,
              fmt::format("{} changed while it was unpacked", archive.source),
              "stage what nobody writes to");
}

Result<int> run_tar(const ArchiveToUnpack& archive, Meter& meter) {
  Pipe pipe;
  if (!pipe.open()) return fail_errno("cannot make a pipe");
  Command tar;
  tar.argv = {"tar", "--extract", "--file=-", "--no-same-owner", "--directory=" + archive.target};
  if (const std::string flag = flag_of(archive.source); !flag.empty()) tar.argv.push_back(flag);
  tar.stdin_fd = pipe.read_end.get();
  tar.parent_death_signal = SIGKILL;
  ::signal(SIGPIPE, SIG_IGN);
  DTS_ASSIGN(const pid_t pid, start_process(tar));
  pipe.read_end.reset();
  const auto fed = feed(pipe.write_end.get(), archive, meter);
  if (!fed) ::kill(pid, SIGKILL);
  pipe.write_end.reset();
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  DTS_TRY(fed);
  return exit_code_of_wait_status(status);
}

}  // namespace

bool is_unpacked(const ArchiveToUnpack& archive) {
  const auto text = read_file(archive.mark, 1U << 14);
  return text && *text == mark_text(archive) && exists(archive.target);
}

Result<void> unpack(const ArchiveToUnpack& archive, Meter& meter) {
  DTS_TRY(remove_all(archive.mark));
  DTS_TRY(remove_all(archive.target));
  DTS_TRY(make_folders(archive.target));
  DTS_ASSIGN(const int code, run_tar(archive, meter));
  if (code != 0)
    return fail(
        Errc::io,
        fmt::format(
            "{}: tar could not unpack {} and exited {}", archive.option, archive.source, code),
        "its own message is above; is the archive damaged, or the disk full?");
  DTS_TRY(check_unchanged(archive));
  return write_file(archive.mark, mark_text(archive));
}

}  // namespace dts::stage
