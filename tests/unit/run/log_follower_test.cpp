// SPDX-License-Identifier: Apache-2.0
// What a log has gained is copied once, whole, with a prefix for each line where one is wanted.
#include "core/run/directory/log_follower.hpp"

#include "core/base/files/unique_fd.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <chrono>
#include <fstream>

namespace {

using dts::run::LogFollower;

class Copy : dts::tests::TemporaryFolder {
 public:
  explicit Copy(std::string prefix = {}) : follower_(file("log"), std::move(prefix)) {
    out_.reset(::open(file("out").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    REQUIRE(out_.valid());
  }

  void grow(const std::string& text) {
    std::ofstream(file("log"), std::ios::app | std::ios::binary) << text;
  }

  bool poll(std::uint64_t limit = UINT64_MAX) {
    return follower_.copy_to(out_.get(), limit).value();
  }

  bool poll_at(LogFollower::Clock::time_point now) {
    return follower_.copy_to(out_.get(), UINT64_MAX, now).value();
  }

  void rest() { CHECK(follower_.copy_rest(out_.get())); }

  [[nodiscard]] std::string copied() const { return dts::read_file(file("out")).value(); }

 private:
  LogFollower follower_;
  dts::UniqueFd out_;
};

}  // namespace

TEST_CASE("a log that does not exist yet is nothing new, and is followed once it does") {
  Copy copy;
  CHECK_FALSE(copy.poll());
  copy.grow("one\n");
  CHECK(copy.poll());
  CHECK(copy.copied() == "one\n");
}

TEST_CASE("each byte is copied once") {
  Copy copy;
  copy.grow("one\ntw");
  CHECK(copy.poll());
  CHECK_FALSE(copy.poll());
  copy.grow("o\n");
  CHECK(copy.poll());
  CHECK(copy.copied() == "one\ntwo\n");
}

TEST_CASE("every line gets the prefix once and is written whole, the last half at the end") {
  Copy copy("[3] ");
  copy.grow("one\ntw");
  copy.poll();
  CHECK(copy.copied() == "[3] one\n");
  copy.grow("o\n\nfour");
  copy.poll();
  CHECK(copy.copied() == "[3] one\n[3] two\n[3] \n");
  copy.rest();
  CHECK(copy.copied() == "[3] one\n[3] two\n[3] \n[3] four\n");
}

TEST_CASE("a block ends between lines, not within a return and a newline, or a bar's state") {
  const std::string first(60'000, 'x');
  const std::string second(5534, 'y');  // its return is the last byte of 64 KiB
  Copy copy("[3] ");
  copy.grow(first + "\n" + second + "\r\n");
  copy.poll();
  CHECK(copy.copied() == "[3] " + first + "\n[3] " + second + "\r\n");
  Copy bar("[3] ");
  bar.grow(first + "\r" + std::string(8000, '#') + "\n");
  bar.poll();
  CHECK(bar.copied() == "[3] " + first + "\r\n[3] " + std::string(8000, '#') + "\n");
}

TEST_CASE("among other logs, a bar is shown while it grows, at times, and each state once") {
  const auto now = LogFollower::Clock::now();
  Copy copy("[3] ");
  copy.grow("begin\n\r 0%");
  copy.poll_at(now);
  CHECK(copy.copied() == "[3] begin\n");
  copy.grow("\r 1%\r 2%");
  CHECK(copy.poll_at(now));
  const std::string first = "[3] begin\n[3] \r[3]  0%\r[3]  1%\r\n";
  CHECK(copy.copied() == first);
  copy.grow("\r 3%\r 4%");
  CHECK_FALSE(copy.poll_at(now + std::chrono::seconds(4)));
  CHECK(copy.poll_at(now + LogFollower::k_bar_pause));
  CHECK(copy.copied() == first + "[3]  2%\r[3]  3%\r\n");
  copy.grow("\n");
  CHECK(copy.poll_at(now + LogFollower::k_bar_pause));
  CHECK(copy.copied() == first + "[3]  2%\r[3]  3%\r\n[3]  4%\n");
}

TEST_CASE("a line that ends in a return and a newline is not taken for a bar") {
  Copy copy("[3] ");
  copy.grow("one\r");
  CHECK_FALSE(copy.poll());
  copy.grow("\n");
  CHECK(copy.poll());
  CHECK(copy.copied() == "[3] one\r\n");
}

TEST_CASE("a look takes no more than its limit, so that one log cannot hold up the others") {
  Copy copy;
  const std::string text(1'000'000, 'x');
  copy.grow(text);
  CHECK(copy.poll(100'000));
  CHECK(copy.copied().size() >= 100'000);
  CHECK(copy.copied().size() < 200'000);
  copy.rest();
  CHECK(copy.copied() == text);
}

TEST_CASE("a log of many blocks with any bytes arrives unchanged") {
  Copy copy;
  std::string text;
  for (unsigned i = 0; i < 300'000; ++i) text += static_cast<char>(i * 2654435761U >> 24);
  copy.grow(text);
  CHECK(copy.poll());
  CHECK(copy.copied() == text);
}

TEST_CASE("an output that cannot be written is reported, and does not stop the follower") {
  dts::tests::TemporaryFolder folder;
  REQUIRE(dts::write_file(folder.file("log"), "text\n"));
  LogFollower follower(folder.file("log"));
  const dts::UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const auto copied = follower.copy_to(full.get());
  REQUIRE_FALSE(copied);
  CHECK(copied.error().no_space);
  CHECK(copied.error().message ==
        "cannot write a copy of " + folder.file("log") + ": No space left on device");
  CHECK_FALSE(follower.copy_to(-1).value());
}
