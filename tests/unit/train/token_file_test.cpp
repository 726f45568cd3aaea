// SPDX-License-Identifier: Apache-2.0
// Files of tokens: with and without a header, as text, and invalid ones.
#include "core/train/data/token_file.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/train/data/read_ahead.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

using namespace dts;
using namespace dts::train;

namespace {

std::string with_header(std::int32_t magic,
                        std::int32_t version,
                        std::int32_t count,
                        std::string body) {
  std::string content(1024, '\0');
  const std::int32_t header[] = {magic, version, count};
  std::memcpy(content.data(), header, sizeof header);
  return content + body;
}

const std::string k_three_short("\x01\x00\x02\x01\x03\x00", 6);  // 1, 258, 3

std::string error_of(const std::string& content, int width) {
  const auto tokens = parse_tokens(content, width);
  if (tokens) return "";
  CHECK(tokens.error().code == Errc::invalid);
  return tokens.error().message;
}

}  // namespace

TEST_CASE("tokens of each width, and llm.c's headers, which say the width themselves") {
  CHECK(parse_tokens("abc", 1)->at(1) == 'b');
  CHECK(parse_tokens(k_three_short, 2)->at(1) == 258);
  CHECK(parse_tokens(k_three_short, 2)->count == 3);
  for (const int width : {2, 4}) {
    const std::string file = with_header(20240520, 1, 3, k_three_short);
    const auto tokens = parse_tokens(file, width);
    REQUIRE(tokens);
    CHECK(tokens->count == 3);
    CHECK(tokens->width == 2);
    CHECK(tokens->at(2) == 3);
  }
  const std::string wide = with_header(20240801, 7, 1, std::string("\x00\x00\x02\x00", 4));
  CHECK(parse_tokens(wide, 2)->at(0) == 131072);
  CHECK(parse_tokens(with_header(20240520, 1, 3, k_three_short), 1)->count == 1030);  // a text
}

TEST_CASE("a file that is cut off, or of another version, is refused") {
  CHECK(error_of("abc", 2) == "3 bytes are not a whole number of tokens of 2 bytes");
  CHECK(error_of(with_header(20240520, 1, 4, k_three_short), 2) ==
        "6 bytes of tokens, its header says 4 of 2 bytes");
  CHECK(error_of(with_header(20240520, 1, -1, k_three_short), 2) ==
        "6 bytes of tokens, its header says -1 of 2 bytes");
  CHECK(error_of(with_header(20240801, 1, 1, "abcd"), 4) == "its header has version 1, not 7");
  CHECK(error_of(with_header(20240801, 7, 0x40000000, "abcd"), 4) ==
        "4 bytes of tokens, its header says 1073741824 of 4 bytes");
}

TEST_CASE("a file is mapped as its name and the vocabulary say, and its tokens are checked") {
  const dts::tests::TemporaryFolder folder;
  const std::string text = folder.path + "/text.txt";
  const std::string bin = folder.path + "/tokens.bin";
  REQUIRE(write_file(text, "hello"));
  REQUIRE(write_file(bin, k_three_short));
  const auto automatic = TokenFormat::automatic;
  const auto read = TokenFile::open(text, automatic, 256);
  REQUIRE(read);
  CHECK(read->tokens().count == 5);
  const auto tokens = TokenFile::open(bin, automatic, 300);
  REQUIRE(tokens);
  CHECK(tokens->tokens().count == 3);
  CHECK(tokens->check_below(259, 0, 3));
  CHECK(tokens->check_below(4, 2, 3));
  CHECK(tokens->check_below(258, 0, 3).error().message ==
        bin + ": token 1 is 258, the model's vocabulary has 258");
  CHECK(TokenFile::open(bin, automatic, 70000).error().message ==
        bin + ": 6 bytes are not a whole number of tokens of 4 bytes");
  CHECK(TokenFile::open(bin, TokenFormat::bytes, 70000)->tokens().count == 6);
  REQUIRE(write_file(text, ""));
  CHECK(TokenFile::open(text, automatic, 256).error().message == text + ": empty, or not a file");
  CHECK(TokenFile::open(folder.path, automatic, 256).error().code == Errc::invalid);
  CHECK(TokenFile::open(folder.path + "/absent", automatic, 256).error().code == Errc::not_found);
  CHECK(token_format_of("uint32") == TokenFormat::uint32);
  CHECK_FALSE(token_format_of("int8"));
}

namespace {

// Whether the page that contains `at` is in memory.
bool is_resident(const std::byte* at) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  unsigned char is = 0;
  auto* const begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) / page * page);
  return ::mincore(begin, 1, &is) == 0 && (is & 1U) != 0;
}

// Makes the kernel drop its cached pages of a file.
void forget(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(file.valid());
  ::fsync(file.get());
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace

TEST_CASE("a sample that is asked for is read meanwhile, and no other one") {
  constexpr int k_context = 1024;
  const dts::tests::TemporaryFolder folder;
  const std::string path = folder.path + "/tokens.bin";
  REQUIRE(write_file(path, std::string(std::size_t{16} << 20U, '\1')));
  forget(path);
  const auto file = TokenFile::open(path, TokenFormat::uint16, 50257);
  REQUIRE(file);
  Samples samples;
  samples.tokens = file->tokens();
  samples.context = k_context;
  const auto sample = [&](std::size_t i) { return samples.tokens.from(i * k_context).data; };
  if (is_resident(sample(4000)) || is_resident(sample(7000))) {
    MESSAGE("skipped: this file system keeps its files in memory");
    return;
  }
  read_ahead(samples, 4000);
  for (int tries = 0; tries < 500 && !is_resident(sample(4000)); ++tries) ::usleep(10000);
  CHECK(is_resident(sample(4000)));
  CHECK_FALSE(is_resident(sample(7000)));
  read_ahead({}, 7);  // images: does nothing
}
