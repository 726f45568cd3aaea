// SPDX-License-Identifier: Apache-2.0
// Timestamps before lines, however the lines are split, and whichever process holds the pipe.
#include "core/launch/program/log_pump.hpp"

#include "core/base/files/files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <regex>
#include <string>
#include <vector>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;
using tests::TemporaryFolder;

const std::regex k_time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z )");

// A pump and the program's end of its pipe.
struct Pumped {
  TemporaryFolder folder;
  std::string path = folder.file("rank-0.log");
  UniqueFd end;
  std::unique_ptr<LogPump> pump;

  Pumped() {
    int ends[2] = {-1, -1};
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    end.reset(ends[1]);
    pump = std::make_unique<LogPump>(
        UniqueFd(ends[0]),
        UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)));
  }

  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t n = ::write(end.get(), text.data(), text.size());
      REQUIRE(n > 0);
      text.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  [[nodiscard]] std::string text() const { return read_file(path).value_or(""); }

  // The log without timestamps.
  [[nodiscard]] std::string plain() const { return std::regex_replace(text(), k_time, ""); }
};

}  // namespace

TEST_CASE("a line's time is RFC 3339 in UTC with milliseconds") {
  const struct {
    std::int64_t ms;
    const char* text;
  } table[] = {{0, "1970-01-01T00:00:00.000Z "},
               {7, "1970-01-01T00:00:00.007Z "},
               {1795269149123, "2026-11-21T13:52:29.123Z "},
               {1795269149999, "2026-11-21T13:52:29.999Z "}};

  for (const auto& row : table)
    CHECK(line_time(std::chrono::system_clock::time_point(std::chrono::milliseconds(row.ms))) ==
          row.text);
}

TEST_CASE("each line gets the time at which its first piece arrived, and only that") {
  const struct {
    std::vector<const char*> pieces;
    const char* text;
  } table[] = {
      {{"a\nb\n"}, "0 a\n0 b\n"},
      {{"a", "b", "c\nd", "\n"}, "0 abc\n2 d\n"},
      {{"a\n", "b\n"}, "0 a\n1 b\n"},
      {{"\n\n", "\n"}, "0 \n0 \n1 \n"},
      {{"a", "", "\n", "b"}, "0 a\n3 b"},
      {{""}, ""},
  };

  for (const auto& row : table) {
    CAPTURE(row.text);
    LineStamper stamper;
    std::string out;
    int number = 0;
    for (const char* piece : row.pieces) stamper.add(piece, std::to_string(number++) + " ", out);
    CHECK(out == row.text);
  }
}

TEST_CASE("bytes are unchanged except for the timestamps") {
  Pumped log;
  std::string all;
  for (unsigned i = 0; i < 20000; ++i)
    all += std::string(i % 97, static_cast<char>('a' + i % 26)) + "\n";
  all += std::string("nul \0 and \xff\n", 12) + "the last line is not ended";
  log.write(all);
  log.end.reset();
  log.pump.reset();
  CHECK(log.plain() == all);
  CHECK(std::regex_search(log.text(), std::regex(R"(Z the last line is not ended$)")));
}

TEST_CASE("a partial line is in the log before the line ends") {
  const Pumped log;
  log.write("Epoch 1: 50%");
  for (const auto until = std::chrono::steady_clock::now() + 10s;
       log.text().empty() && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(5ms);
  CHECK(log.plain() == "Epoch 1: 50%");
}

TEST_CASE("a pipe that another process keeps open does not delay the end") {
  Pumped log;
  const UniqueFd other(::fcntl(log.end.get(), F_DUPFD_CLOEXEC, 0));
  log.write("all that it said\n");
  log.end.reset();
  const auto began = std::chrono::steady_clock::now();
  log.pump.reset();
  CHECK(std::chrono::steady_clock::now() - began < 20s);
  CHECK(log.plain() == "all that it said\n");
}
