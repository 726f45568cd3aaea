// SPDX-License-Identifier: Apache-2.0
#include "core/stage/copy_part.hpp"

#include "core/base/files/unique_fd.hpp"
#include "core/base/hash.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

namespace dts::stage {
namespace {

using Block = std::span<const char>;
using OnBlock = std::function<Result<void>(std::uint64_t offset, Block block)>;

bool is_zero(Block block) {
  return block[0] == 0 && std::memcmp(block.data(), block.data() + 1, block.size() - 1) == 0;
}

// The first block at or after `offset` that is not entirely a hole.
std::uint64_t next_data(int fd, std::uint64_t offset, std::uint64_t end) {
  const off_t data = ::lseek(fd, static_cast<off_t>(offset), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? end : offset;  // ENXIO: holes only, or the file's end
  return std::max(offset, static_cast<std::uint64_t>(data) / k_block * k_block);
}

Result<std::size_t> read_block(int fd,
                               std::uint64_t offset,
                               std::span<char> into,
                               const std::string& path) {
  std::size_t got = 0;
  while (got < into.size()) {
    const ssize_t n =
        ::pread(fd, into.data() + got, into.size() - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("cannot read " + path);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

// Calls `take` for each block that is not all zeros. Data missing at the end counts as zeros: the
// caller compares the size of a source afterwards.
Result<void> each_block(int fd, const std::string& path, Range range, const OnBlock& take) {
  std::vector<char> buffer(std::min(k_block, range.end - range.begin));
  for (std::uint64_t at = range.begin; at < range.end; at += k_block) {
    at = next_data(fd, at, range.end);
    if (at >= range.end) break;
    const std::span<char> block(buffer.data(), std::min(k_block, range.end - at));
    DTS_ASSIGN(const std::size_t got, read_block(fd, at, block, path));
    std::memset(block.data() + got, 0, block.size() - got);
    if (!is_zero(block)) DTS_TRY(take(at, block));
  }
  return {};
}

Result<void> write_block(int fd, std::uint64_t offset, Block block, const std::string& path) {
  while (!block.empty()) {
    const ssize_t n = ::pwrite(fd, block.data(), block.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("cannot write " + path);
    offset += static_cast<std::uint64_t>(n);
    block = block.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

// Writes to the disk and drops the page cache, so that reading back reads the disk.
Result<void> flush_range(int fd, Range range, const std::string& path) {
  const auto from = static_cast<off_t>(range.begin);
  const auto size = static_cast<off_t>(range.end - range.begin);
  constexpr unsigned k_all =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  // Not every file system supports it.
  if (::sync_file_range(fd, from, size, k_all) != 0 && ::fdatasync(fd) != 0)
    return fail_errno("cannot write " + path);
  ::posix_fadvise(fd, from, size, POSIX_FADV_DONTNEED);
  return {};
}

Result<std::uint64_t> hash_of(int fd, const std::string& path, Range range) {
  std::uint64_t sum = 0;
  const auto add = [&sum](std::uint64_t at, Block block) -> Result<void> {
    sum += hash64(block.data(), block.size(), at);
    return {};
  };
  DTS_TRY(each_block(fd, path, range, add));
  return sum;
}

Result<UniqueFd> open_part(const std::string& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return fail_errno("cannot open " + path);
  return fd;
}

}  // namespace

Result<std::uint64_t> copy_part(const std::string& source,
                                const std::string& target,
                                Range range,
                                const OnBytes& on_bytes) {
  DTS_ASSIGN(const UniqueFd in, open_part(source, O_RDONLY));
  DTS_ASSIGN(const UniqueFd out, open_part(target, O_RDWR | O_CREAT));
  if (range.begin >= range.end) return 0;
  std::uint64_t told = range.begin;
  std::uint64_t sum = 0;
  const auto copy = [&](std::uint64_t at, Block block) -> Result<void> {
    sum += hash64(block.data(), block.size(), at);
    on_bytes(at + block.size() - told);
    told = at + block.size();
    return write_block(out.get(), at, block, target);
  };
  DTS_TRY(each_block(in.get(), source, range, copy));
  DTS_TRY(flush_range(out.get(), range, target));
  DTS_ASSIGN(const std::uint64_t written, hash_of(out.get(), target, range));
  if (written != sum)
    return fail(
        Errc::io,
        fmt::format("{} was written, but other bytes are read back from it (bytes {} to {})",
                    target,
                    range.begin,
                    range.end),
        "the disk of this node is damaged, or somebody else writes there");
  on_bytes(range.end - told);
  return sum;
}

Result<std::uint64_t> hash_part(const std::string& path, Range range) {
  DTS_ASSIGN(const UniqueFd fd, open_part(path, O_RDONLY));
  if (range.begin >= range.end) return 0;
  return hash_of(fd.get(), path, range);
}

}  // namespace dts::stage
