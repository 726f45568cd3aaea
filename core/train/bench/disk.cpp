// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/unnamed_file.hpp"
#include "core/base/random.hpp"
#include "core/train/bench/measures.hpp"
#include "core/train/bench/timing.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace dts::train::bench {
namespace {

constexpr std::size_t k_piece = k_mib;  // bytes per call

struct Disk {
  std::string folder;
  std::size_t bytes = 0;  // to be written
  double seconds = 0;     // for each direction; a slow disk gets less than `bytes`
  bool slowed = false;    // for tests
};

// Data that no file system can compress, aligned for O_DIRECT.
class Piece {
 public:
  Piece() : bytes_(static_cast<std::uint64_t*>(std::aligned_alloc(4096, k_piece)), &std::free) {
    if (bytes_ != nullptr)
      for (std::size_t i = 0; i < k_piece / sizeof(std::uint64_t); ++i) bytes_.get()[i] = mix(i);
  }

  [[nodiscard]] void* data() const { return bytes_.get(); }

 private:
  std::unique_ptr<std::uint64_t, decltype(&std::free)> bytes_;
};

// For tests of a slow disk: takes five times as long as `work`.
template <class Work>
bool on_disk(const Disk& disk, const Work& work) {
  const Clock::time_point start = Clock::now();
  const bool done = work();
  if (disk.slowed) std::this_thread::sleep_for(4 * (Clock::now() - start));
  return done;
}

// Returns the B/s of writing `disk.bytes` and fsync. `written` is set to the number of bytes in the
// file.
Result<double> write_rate(const Disk& disk, int fd, void* piece, std::size_t& written) {
  const Clock::time_point start = Clock::now();
  if (::lseek(fd, 0, SEEK_SET) != 0) return fail_errno("cannot write in " + disk.folder);
  for (written = 0; written < disk.bytes && seconds_since(start) < disk.seconds;) {
    const bool whole =
        on_disk(disk, [&] { return ::write(fd, piece, k_piece) == static_cast<ssize_t>(k_piece); });
    if (!whole) return fail_errno("cannot write in " + disk.folder);
    written += k_piece;
  }
  if (!on_disk(disk, [&] { return ::fsync(fd) == 0; }))
    return fail_errno("cannot sync in " + disk.folder);
  return static_cast<double>(written) / seconds_since(start);
}

// Returns the B/s of reading `bytes`; uses the page cache only if the file system has nothing else.
Result<double> read_rate(const Disk& disk, int fd, void* piece, std::size_t bytes) {
  (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  const UniqueFd direct(
      ::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  const int from = direct.valid() ? direct.get() : fd;
  const Clock::time_point start = Clock::now();
  std::size_t done = 0;
  for (; done < bytes && (done == 0 || seconds_since(start) < disk.seconds); done += k_piece) {
    const bool whole = on_disk(disk, [&] {
      return ::pread(from, piece, k_piece, static_cast<off_t>(done)) ==
             static_cast<ssize_t>(k_piece);
    });
    if (!whole) return fail_errno("cannot read in " + disk.folder);
  }
  return static_cast<double>(done) / seconds_since(start);
}

struct DiskRates {
  double write = 0;
  double read = 0;
};

// The best of up to three attempts: writes by other programs are not the disk's fault.
Result<DiskRates> disk_rates(const Disk& disk) {
  constexpr int k_times = 3;
  const Piece piece;
  if (piece.data() == nullptr) return fail(Errc::io, "no memory for a piece of a file");
  const UniqueFd fd = unnamed_file(disk.folder);
  if (!fd.valid()) return fail_errno("cannot create a file in " + disk.folder);
  DiskRates best;
  std::size_t written = 0;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < k_times && (i == 0 || seconds_since(start) < disk.seconds); ++i) {
    DTS_ASSIGN(const double write, write_rate(disk, fd.get(), piece.data(), written));
    DTS_ASSIGN(const double read, read_rate(disk, fd.get(), piece.data(), written));
    best = {std::max(best.write, write), std::max(best.read, read)};
  }
  return best;
}

bool is_memory(const std::string& folder) {
  struct statfs found {};

  return ::statfs(folder.c_str(), &found) == 0 &&
         (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC);
}

}  // namespace

void measure_disk(const BenchOptions& options, double seconds, RankFacts& facts) {
  const std::pair<const char*, std::string> folders[] = {{"run", options.run_dir},
                                                         {"scratch", options.scratch}};
  for (const auto& [what, folder] : folders) {
    if (folder.empty()) continue;
    const auto rates = disk_rates({folder,
                                   (options.quick ? 8 : 64) * k_mib,
                                   seconds / 4,
                                   options.injection("disk", 0) != nullptr});
    if (!rates) {
      facts.notes.push_back(rates.error().message);
      continue;
    }
    facts.measures.push_back({"write", rates->write, "B/s", {}, what, folder});
    facts.measures.push_back({"read", rates->read, "B/s", {}, what, folder});
    if (is_memory(folder)) facts.notes.push_back(folder + " is in memory, not on a disk");
  }
}

}  // namespace dts::train::bench
