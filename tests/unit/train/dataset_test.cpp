// SPDX-License-Identifier: Apache-2.0
// IDX.gz files, good and bad.
#include "core/train/data/dataset.hpp"

#include "core/base/files/files.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <string>

using namespace dts;
using namespace dts::train;

namespace {

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24),
          static_cast<char>(value >> 16),
          static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::string idx(const std::vector<std::uint32_t>& extents, const std::string& body) {
  std::string bytes{0, 0, 8, static_cast<char>(extents.size())};
  for (const std::uint32_t extent : extents) bytes += big_endian(extent);
  return bytes + body;
}

void write_gzip(const std::string& path, const std::string& content) {
  const gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  REQUIRE(gzwrite(file, content.data(), static_cast<unsigned>(content.size())) ==
          static_cast<int>(content.size()));
  gzclose(file);
}

std::string images(std::uint32_t count) {
  return idx({count, 28, 28}, std::string(count * k_pixels, '\x07'));
}

struct DataFolder : dts::tests::TemporaryFolder {
  DataFolder() {
    write_gzip(path + "/train-images-idx3-ubyte.gz", images(3));
    write_gzip(path + "/train-labels-idx1-ubyte.gz", idx({3}, std::string("\x01\x09\x00", 3)));
  }

  std::string error() const {
    RawSamples raw;
    const auto result = read_samples(path, "train", raw);
    return result ? "" : result.error().message;
  }
};

using dts::tests::contains;

}  // namespace

TEST_CASE("images and labels are read") {
  const DataFolder folder;
  RawSamples raw;
  REQUIRE(read_samples(folder.path, "train", raw));
  CHECK(raw.view.count == 3);
  CHECK(raw.view.images[3 * k_pixels - 1] == 7);
  CHECK(raw.view.labels[1] == 9);
}

TEST_CASE("a damaged IDX header is refused without believing its sizes") {
  CHECK_FALSE(parse_idx(""));
  CHECK_FALSE(parse_idx(std::string("\0\0\x08", 3)));
  CHECK_FALSE(parse_idx(std::string("\0\0\x0d\x01\0\0\0\x01z", 9)));            // floats
  CHECK_FALSE(parse_idx(std::string("\x1f\0\x08\x01\0\0\0\x01z", 9)));          // wrong magic
  CHECK_FALSE(parse_idx(idx({}, "")));                                          // no dimension
  CHECK_FALSE(parse_idx(idx({1, 1, 1, 1, 1}, "z")));                            // five
  CHECK_FALSE(parse_idx(idx({4}, "abc")));                                      // short
  CHECK_FALSE(parse_idx(idx({2}, "abc")));                                      // long
  CHECK_FALSE(parse_idx(idx({0xffffffff, 0xffffffff, 28}, "abc")));             // huge
  CHECK_FALSE(parse_idx(idx({0xffffffff, 0xffffffff, 0xffffffff, 4}, "abc")));  // overflows
  CHECK(parse_idx(idx({3}, "abc")));
}

TEST_CASE("a truncated gzip file is named and refused") {
  const DataFolder folder;
  const std::string path = folder.path + "/train-images-idx3-ubyte.gz";
  const std::string whole = read_file(path).value();
  REQUIRE(write_file(path, std::string_view(whole).substr(0, whole.size() / 2)));
  CHECK(contains(folder.error(), path));
  REQUIRE(write_file(path, "not gzip at all"));
  CHECK(contains(folder.error(), path));
  std::string flipped = whole;
  flipped[whole.size() - 6] = static_cast<char>(flipped[whole.size() - 6] ^ 1);  // the CRC
  REQUIRE(write_file(path, flipped));
  CHECK(contains(folder.error(), path));
}

TEST_CASE("a gzip file that inflates beyond the limit is refused") {
  const dts::tests::TemporaryFolder folder;
  write_gzip(folder.path + "/zeros.gz", std::string(1 << 20, '\0'));
  CHECK_FALSE(read_gzip(folder.path + "/zeros.gz", 1 << 19));
  CHECK(read_gzip(folder.path + "/zeros.gz", 1 << 20));
}

TEST_CASE("labels that do not match the images are refused") {
  const DataFolder folder;
  const std::string labels = folder.path + "/train-labels-idx1-ubyte.gz";
  write_gzip(labels, idx({2}, "ab"));
  CHECK(contains(folder.error(), "one label for each of the 3"));
  write_gzip(labels, idx({3}, "\x01\x0a\x02"));
  CHECK(contains(folder.error(), "label above 9"));
  REQUIRE(remove_all(labels));
  CHECK(contains(folder.error(), labels));
}
