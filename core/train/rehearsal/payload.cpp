// SPDX-License-Identifier: Apache-2.0
#include "core/train/rehearsal/payload.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/random.hpp"
#include "core/base/text/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace dts::train {
namespace {

constexpr std::size_t k_block = std::size_t{1} << 20;  // bytes
constexpr std::string_view k_payload_prefix = "payload-";
constexpr std::string_view k_of = "-of-";
constexpr std::string_view k_end = ".bin";

// Each block begins with its position, so that no two blocks are equal; the rest is the same noise
// in all blocks.
using BlockHead = std::array<std::uint64_t, 4>;  // step, part, block of the file, bytes of the file

class Blocks {
 public:
  Blocks(const PayloadPart& part, std::uint64_t bytes)
      : head_{part.step, static_cast<std::uint64_t>(part.part), 0, bytes}, words_(k_block / 8) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = mix(i + 1);
  }

  [[nodiscard]] const std::byte* at(std::uint64_t block) {
    head_[2] = block;
    std::copy(head_.begin(), head_.end(), words_.begin());
    return reinterpret_cast<const std::byte*>(words_.data());
  }

 private:
  BlockHead head_;
  std::vector<std::uint64_t> words_;
};

std::string payload_name(const PayloadPart& part) {
  return fmt::format("{}{:05}{}{:05}{}", k_payload_prefix, part.part + 1, k_of, part.parts, k_end);
}

std::optional<PayloadPart> part_of_name(std::string_view name, std::uint64_t step) {
  const auto of = name.find(k_of);
  if (!name.starts_with(k_payload_prefix) || !name.ends_with(k_end) || of == name.npos)
    return std::nullopt;
  const auto part =
      parse_number(name.substr(k_payload_prefix.size(), of - k_payload_prefix.size()));
  const std::size_t from = of + k_of.size();
  const auto parts = parse_number(name.substr(from, name.size() - k_end.size() - from));
  constexpr std::uint64_t k_most = 1 << 20;
  if (!part || !parts || *part < 1 || *part > *parts || *parts > k_most) return std::nullopt;
  return PayloadPart{static_cast<int>(*parts), static_cast<int>(*part) - 1, step};
}

// Returns fewer than `bytes` only at the end of the file.
Result<std::size_t> read_all(int fd, std::byte* data, std::size_t bytes) {
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t more = ::read(fd, data + got, bytes - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return fail_errno("cannot read");
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  return got;
}

Result<std::uint64_t> check_file(int fd, const PayloadPart& part) {
  std::vector<std::byte> found(k_block);
  DTS_ASSIGN(std::size_t got, read_all(fd, found.data(), k_block));
  BlockHead head{};
  if (got < sizeof head) return fail(Errc::invalid, fmt::format("only {} bytes are there", got));
  std::memcpy(head.data(), found.data(), sizeof head);
  const std::uint64_t bytes = head[3];
  std::uint64_t size = 0;
  Blocks blocks(part, bytes);
  for (std::uint64_t block = 0; got > 0; ++block) {
    const auto differ = std::mismatch(
        found.begin(), found.begin() + static_cast<std::ptrdiff_t>(got), blocks.at(block));
    const auto place = block * k_block + static_cast<std::uint64_t>(differ.first - found.begin());
    size += got;
    if (place < size)
      return fail(Errc::invalid, fmt::format("byte {} is not what was written", place));
    if (got < k_block) break;
    DTS_ASSIGN(got, read_all(fd, found.data(), k_block));
  }
  if (size != bytes)
    return fail(Errc::invalid, fmt::format("{} bytes of {} are there", size, bytes));
  return size;
}

// All parts in the folder, in their order.
Result<std::vector<PayloadPart>> parts_in(const std::string& folder, std::uint64_t step) {
  std::vector<PayloadPart> found;
  for (const std::string& name : list_folder(folder))
    if (const auto part = part_of_name(name, step)) found.push_back(*part);
  std::sort(found.begin(), found.end(), [](const PayloadPart& a, const PayloadPart& b) {
    return a.part < b.part;
  });
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i].part != static_cast<int>(i) || found[i].parts != static_cast<int>(found.size()))
      return fail(
          Errc::invalid,
          fmt::format(
              "{}: {} of {} files of the payload are there", folder, found.size(), found[i].parts));
  return found;
}

}  // namespace

Result<void> write_payload(const std::string& folder,
                           const PayloadPart& part,
                           std::uint64_t bytes) {
  if (bytes == 0) return {};
  bytes = std::max<std::uint64_t>(bytes, sizeof(BlockHead));
  const std::string path = folder + "/" + payload_name(part);
  const UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return fail_errno("cannot create " + path);
  Blocks blocks(part, bytes);
  for (std::uint64_t at = 0; at < bytes; at += k_block) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(k_block, bytes - at));
    const std::string_view block(reinterpret_cast<const char*>(blocks.at(at / k_block)), count);
    DTS_TRY(write_whole(fd.get(), block, path));
  }
  if (::fsync(fd.get()) != 0) return fail_errno("cannot sync " + path);
  return {};
}

Result<std::uint64_t> read_payload(const std::string& folder,
                                   std::uint64_t step,
                                   int readers,
                                   int reader) {
  DTS_ASSIGN(const std::vector<PayloadPart> parts, parts_in(folder, step));
  std::uint64_t bytes = 0;
  for (const PayloadPart& part : parts) {
    if (part.part % readers != reader) continue;
    const std::string path = folder + "/" + payload_name(part);
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd.valid()) return fail_errno("cannot read " + path);
    auto read = check_file(fd.get(), part);
    if (!read) return tl::unexpected(std::move(read).error().during(path));
    bytes += *read;
  }
  return bytes;
}

}  // namespace dts::train
