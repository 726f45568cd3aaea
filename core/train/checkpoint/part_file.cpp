// SPDX-License-Identifier: Apache-2.0
// Writes and reads one safetensors file as a stream.
#include "core/train/checkpoint/part_file.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/hash.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace dts::train {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr std::size_t k_piece = std::size_t{1} << 20;  // bytes
constexpr std::size_t k_length_bytes = 8;

// `path`: of the file, for the error message.
Result<void> write_hashed(
    int fd, const void* data, std::size_t bytes, Hash64& hash, const std::string& path) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd, at, std::min(bytes, k_piece));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("cannot write " + path);
    const auto n = static_cast<std::size_t>(written);
    hash.add(at, n);
    at += n;
    bytes -= n;
  }
  return {};
}

bool is_finite(const float* values, std::size_t count) {
  return std::all_of(values, values + count, [](float value) { return std::isfinite(value); });
}

}  // namespace

std::string part_name(int parts, int part) {
  if (parts == 1) return "state.safetensors";
  return fmt::format("state-{:05}-of-{:05}.safetensors", part + 1, parts);
}

Snapshot::Snapshot(const Layout& layout, int parts, int part)
    : name_(part_name(parts, part)), rows_(share_of(layout, parts, part)) {}

void Snapshot::take(const State& state) {
  header_ = encode_tensor_header(rows_, state.step);
  std::size_t floats = 0;
  for (const Rows& rows : rows_) floats += rows.floats();
  if (values_.size() != floats) values_ = Buffer(floats);
  float* at = values_.data();
  for (const Rows& rows : rows_) {
    const bool follows = rows.array == Rows::Array::momentum  ? state.momentum.size() == 0
                         : rows.array == Rows::Array::weights ? !state.has_all
                                                              : false;
    if (!follows) copy_out(state, rows, at);
    at += rows.floats();
  }
}

void Snapshot::put(ArrayOf array, Range floats, const float* values) {
  float* at = values_.data();
  for (const Rows& rows : rows_) {
    if (rows.is_of(array)) copy_out(values, floats, rows, at);
    at += rows.floats();
  }
}

Result<void> Snapshot::check_finite() const {
  const float* at = values_.data();
  for (const Rows& rows : rows_) {
    if (!is_finite(at, rows.floats()))
      return fail(Errc::invalid, fmt::format("tensor {} is not finite", rows.name));
    at += rows.floats();
  }
  return {};
}

Result<PartFile> Snapshot::write(const std::string& path) const {
  DTS_TRY(check_finite());
  const UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return fail_errno("cannot create " + path);
  Hash64 hash;
  const std::uint64_t length = header_.size();
  DTS_TRY(write_hashed(fd.get(), &length, sizeof length, hash, path));
  DTS_TRY(write_hashed(fd.get(), header_.data(), header_.size(), hash, path));
  const std::size_t bytes = values_.size() * sizeof(float);
  DTS_TRY(write_hashed(fd.get(), values_.data(), bytes, hash, path));
  if (::fsync(fd.get()) != 0) return fail_errno("cannot sync " + path);
  return PartFile{name_, k_length_bytes + length + bytes, hash.value()};
}

// A file that is hashed as it is read.
class Assembly::Input {
 public:
  Input(int fd, std::uint64_t bytes) : fd_(fd), left_(bytes) {}

  [[nodiscard]] std::uint64_t left() const { return left_; }

  [[nodiscard]] std::uint64_t hash() const { return hash_.value(); }

  Result<void> read(void* to, std::size_t bytes) {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t n = ::read(fd_, at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail_errno("cannot read it");
      if (n == 0) return fail(Errc::invalid, "it became shorter while it was read");
      const auto got = static_cast<std::size_t>(n);
      hash_.add(at, got);
      at += got;
      bytes -= got;
      left_ -= got;
    }
    return {};
  }

  // Reads the rest of a file whose tensors are wrong: the hash shows whether it was damaged.
  Result<void> skip_rest() {
    std::string piece(std::min<std::uint64_t>(k_piece, left_), '\0');
    while (left_ > 0) DTS_TRY(read(piece.data(), std::min<std::uint64_t>(piece.size(), left_)));
    return {};
  }

 private:
  int fd_;
  std::uint64_t left_;
  Hash64 hash_;
};

Assembly::Assembly(const Layout& layout, ColumnOrder order, State* state)
    : order_(order), state_(state) {
  for (Rows& rows : all_rows(layout)) next_.emplace(rows.name, rows);
}

Result<Assembly::Input> Assembly::open(int fd, const PartFile& file) {
  struct stat info {};

  if (::fstat(fd, &info) != 0) return fail_errno(file.name);
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (!S_ISREG(info.st_mode) || size != file.bytes)
    return fail(Errc::invalid,
                fmt::format("{}: {} bytes, manifest says {}", file.name, size, file.bytes));
  return Input(fd, size);
}

Result<void> Assembly::add(int fd, const PartFile& file) {
  DTS_ASSIGN(Input input, open(fd, file));
  auto added = add_contents(input);
  if (!added && added.error().code == Errc::invalid) DTS_TRY(input.skip_rest());
  if ((added || added.error().code == Errc::invalid) && input.hash() != file.hash)
    return fail(
        Errc::invalid,
        fmt::format(
            "{}: hash {}, manifest says {}", file.name, to_hex(input.hash()), to_hex(file.hash)));
  if (!added) return tl::unexpected(std::move(added).error().during(file.name));
  return {};
}

Result<void> Assembly::add_header(int fd, const PartFile& file) {
  DTS_ASSIGN(Input input, open(fd, file));
  if (auto added = add_rows_of(input); !added)
    return tl::unexpected(std::move(added).error().during(file.name));
  return {};
}

Result<void> Assembly::add_contents(Input& input) {
  DTS_ASSIGN(const std::vector<Rows> all, add_rows_of(input));
  for (const Rows& rows : all) DTS_TRY(add_rows(input, rows));
  return {};
}

// The rows that the header describes, in the order of their bytes.
Result<std::vector<Rows>> Assembly::add_rows_of(Input& input) {
  const std::uint64_t size = input.left();
  std::uint64_t length = 0;
  if (input.left() < sizeof length)
    return fail(Errc::invalid, "shorter than the length of its header");
  DTS_TRY(input.read(&length, sizeof length));
  if (length > k_tensor_header_limit || length > input.left())
    return fail(Errc::invalid, fmt::format("its header of {} bytes does not fit", length));
  std::string header(length, '\0');
  DTS_TRY(input.read(header.data(), header.size()));
  DTS_ASSIGN(const std::vector<TensorEntry> entries, parse_tensor_header(header, input.left()));
  const std::uint64_t begin = size - input.left();
  std::vector<Rows> all;
  for (const TensorEntry& entry : entries) {
    DTS_ASSIGN(const Rows rows, match(entry));
    stored_.push_back({rows, files_, begin + entry.begin});
    all.push_back(rows);
  }
  ++files_;
  return all;
}

// The rows of this tensor, which must be the next missing ones.
Result<Rows> Assembly::match(const TensorEntry& entry) {
  const auto found = next_.find(entry.name);
  if (found == next_.end())
    return fail(Errc::invalid, fmt::format("tensor {}: not of this model", entry.name));
  if (entry.dtype != "F32")
    return fail(Errc::invalid, fmt::format("tensor {}: not F32", entry.name));
  Rows& missing = found->second;
  Rows rows = missing;
  rows.count = entry.shape.empty() ? 0 : entry.shape.front();
  if (rows.count > missing.count || rows.shape() != entry.shape)
    return fail(Errc::invalid, fmt::format("tensor {}: another shape", entry.name));
  missing.first += rows.count;
  missing.count -= rows.count;
  return rows;
}

Result<void> Assembly::add_rows(Input& input, Rows rows) {
  const std::size_t end = rows.first + rows.count;
  const std::size_t most = std::max<std::size_t>(1, k_piece / sizeof(float) / rows.row_floats());
  for (; rows.first < end; rows.first += rows.count) {
    rows.count = std::min(most, end - rows.first);
    if (piece_.size() < rows.floats()) piece_ = Buffer(rows.floats());
    DTS_TRY(input.read(piece_.data(), rows.floats() * sizeof(float)));
    if (!is_finite(piece_.data(), rows.floats()))
      return fail(Errc::invalid, fmt::format("tensor {}: not finite", rows.name));
    if (state_ != nullptr) copy_in(piece_.data(), order_, rows, *state_);
  }
  return {};
}

Result<void> Assembly::complete() const {
  for (const auto& [name, missing] : next_)
    if (missing.count > 0)
      return fail(Errc::invalid,
                  fmt::format("tensor {}: rows {} to {} are missing",
                              name,
                              missing.first,
                              missing.first + missing.count));
  return {};
}

}  // namespace dts::train
