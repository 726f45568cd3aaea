// SPDX-License-Identifier: Apache-2.0
// Reads IDX.gz files.
#include "core/train/data/dataset.hpp"

#include "core/base/files/files.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>

namespace dts::train {
namespace {

constexpr std::size_t k_max_dimensions = 4;
constexpr std::size_t k_file_limit = std::size_t{1} << 30;
constexpr unsigned char k_unsigned_bytes = 0x08;

std::uint8_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

std::size_t big_endian(std::string_view bytes, std::size_t at) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | byte_at(bytes, at + i);
  return value;
}

struct CloseGzip {
  void operator()(gzFile file) const { gzclose_r(file); }
};

using Gzip = std::unique_ptr<gzFile_s, CloseGzip>;

Result<std::string> inflate_all(gzFile file, std::size_t limit) {
  std::string content;
  for (std::array<char, 1 << 16> chunk{};;) {
    const int got = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()));
    if (got < 0) {
      int number = 0;
      const char* const text = gzerror(file, &number);
      return fail(Errc::invalid, fmt::format("damaged gzip data ({})", text));
    }
    content.append(chunk.data(), static_cast<std::size_t>(got));
    if (content.size() > limit)
      return fail(Errc::invalid, fmt::format("inflates to more than {} bytes", limit));
    if (got == 0) break;  // zlib 1.3.2 reports a wrong checksum only here
  }
  int number = Z_OK;
  gzerror(file, &number);
  if (number == Z_BUF_ERROR) return fail(Errc::invalid, "ends in the middle of its gzip data");
  return content;
}

Result<Idx> read_idx(const std::string& path, std::string& content) {
  DTS_ASSIGN(content, read_gzip(path, k_file_limit));
  auto idx = parse_idx(content);
  if (!idx) return tl::unexpected(std::move(idx).error().during(path));
  return idx;
}

}  // namespace

Result<Idx> parse_idx(std::string_view bytes) {
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0 || byte_at(bytes, 2) != k_unsigned_bytes)
    return fail(Errc::invalid, "not an IDX file of unsigned bytes (it must begin with 00 00 08)");
  const std::size_t dimensions = byte_at(bytes, 3);
  if (dimensions < 1 || dimensions > k_max_dimensions)
    return fail(Errc::invalid,
                fmt::format("{} dimensions, expected 1 to {}", dimensions, k_max_dimensions));
  const std::size_t header = 4 + 4 * dimensions;
  if (bytes.size() < header) return fail(Errc::invalid, "ends in the middle of its header");
  Idx idx;
  std::size_t values = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    idx.extents.push_back(big_endian(bytes, 4 + 4 * i));
    if (__builtin_mul_overflow(values, idx.extents.back(), &values))
      return fail(Errc::invalid, "the product of its dimensions overflows");
  }
  if (values != bytes.size() - header)
    return fail(
        Errc::invalid,
        fmt::format("{} bytes of values, its header says {}", bytes.size() - header, values));
  const auto body = bytes.substr(header);
  idx.values = {std::bit_cast<const std::uint8_t*>(body.data()), body.size()};
  return idx;
}

Result<std::string> read_gzip(const std::string& path, std::size_t limit) {
  errno = 0;
  const Gzip file(gzopen(path.c_str(), "rbe"));
  if (!file)
    return fail_errno(
        path, "install the Debian package dataset-fashion-mnist, or name the folder with --data");
  gzbuffer(file.get(), 1 << 17);
  auto content = inflate_all(file.get(), limit);
  if (!content) return tl::unexpected(std::move(content).error().during(path));
  return content;
}

Result<void> read_samples(const std::string& folder, const std::string& prefix, RawSamples& out) {
  const std::string images_path = folder + "/" + prefix + "-images-idx3-ubyte.gz";
  const std::string labels_path = folder + "/" + prefix + "-labels-idx1-ubyte.gz";
  DTS_ASSIGN(const Idx images, read_idx(images_path, out.images));
  DTS_ASSIGN(const Idx labels, read_idx(labels_path, out.labels));
  const std::vector<std::size_t>& e = images.extents;
  if (e.size() != 3 || e[1] != k_side || e[2] != k_side || e[0] == 0)
    return fail(Errc::invalid, images_path + ": not a list of 28x28 images");
  if (labels.extents.size() != 1 || labels.extents[0] != e[0])
    return fail(Errc::invalid,
                fmt::format("{}: not one label for each of the {} images", labels_path, e[0]));
  if (*std::max_element(labels.values.begin(), labels.values.end()) >= k_classes)
    return fail(Errc::invalid, fmt::format("{}: a label above {}", labels_path, k_classes - 1));
  out.view = {images.values.data(), labels.values.data(), e[0]};
  return {};
}

}  // namespace dts::train
