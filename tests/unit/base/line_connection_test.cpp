// SPDX-License-Identifier: Apache-2.0
// Lines over a real socket: in halves, in bulk, too long, and from a peer that leaves.
#include "core/base/net/line_connection.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>
#include <vector>

namespace {

using namespace dts;
using namespace dts;

// Our end and the peer's end of one connection.
struct Wire {
  UniqueFd peer;
  LineConnection line;

  explicit Wire(std::size_t limit = 1000) : Wire(limit, ends()) {}

  void peer_writes(std::string_view text) const {
    REQUIRE(::send(peer.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }

  [[nodiscard]] std::string peer_reads() const {
    std::string text(65536, '\0');
    const ssize_t n = ::recv(peer.get(), text.data(), text.size(), MSG_DONTWAIT);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }

  std::vector<std::string> lines() {
    std::vector<std::string> all;
    while (auto one = line.next_line()) all.push_back(std::move(*one));
    return all;
  }

 private:
  static std::pair<int, int> ends() {
    int fds[2] = {-1, -1};
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds);
    return {fds[0], fds[1]};
  }

  Wire(std::size_t limit, std::pair<int, int> fds)
      : peer(fds.second), line(UniqueFd(fds.first), limit) {}
};

// Bytes of memory that this process holds.
std::size_t resident() {
  std::size_t pages = 0, ignored = 0;
  std::istringstream(read_file("/proc/self/statm").value()) >> ignored >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("nothing has arrived: the peer is alive and there is no line") {
  Wire wire;
  CHECK(wire.line.receive());
  CHECK_FALSE(wire.line.next_line());
}

TEST_CASE("a line that comes byte by byte is one line, and only once whole") {
  Wire wire;
  for (const char c : std::string_view("hello")) {
    wire.peer_writes({&c, 1});
    CHECK(wire.line.receive());
    CHECK_FALSE(wire.line.next_line());
  }
  wire.peer_writes("\nnext");
  CHECK(wire.line.receive());
  CHECK(wire.lines() == std::vector<std::string>{"hello"});
  wire.peer_writes("\n");
  CHECK(wire.line.receive());
  CHECK(wire.lines() == std::vector<std::string>{"next"});
}

TEST_CASE("many lines in one packet, empty ones too, come out in order") {
  Wire wire;
  wire.peer_writes("a\n\nb\nc\nhalf");
  CHECK(wire.line.receive());
  CHECK(wire.lines() == std::vector<std::string>{"a", "", "b", "c"});
}

TEST_CASE("lines that a peer sent before it disconnected are still read") {
  Wire wire;
  wire.peer_writes("last words\nhalf a");
  wire.peer.reset();
  CHECK_FALSE(wire.line.receive());
  CHECK(wire.lines() == std::vector<std::string>{"last words"});
}

TEST_CASE("a line as long as the limit passes, a longer one without end does not") {
  Wire wire(100);
  wire.peer_writes(std::string(100, 'x') + "\n");
  CHECK(wire.line.receive());
  CHECK(wire.lines().size() == 1);
  wire.peer_writes(std::string(101, 'x'));
  CHECK_FALSE(wire.line.receive());
}

TEST_CASE("lines over the limit in sum but not each are no offence") {
  Wire wire(100);
  for (unsigned i = 0; i < 50; ++i) {
    wire.peer_writes(std::string(60, 'x') + "\n" + std::string(60, 'y'));
    REQUIRE(wire.line.receive());
    wire.lines();
    wire.peer_writes("\n");
    REQUIRE(wire.line.receive());
    CHECK(wire.lines().size() == 1);
  }
}

TEST_CASE("a gigabyte without a newline is cut at the limit and fills no memory") {
  Wire wire(std::size_t{1} << 20);
  std::thread writer([&] {
    const std::string block(1 << 20, 'x');
    for (unsigned i = 0; i < 1024; ++i)
      if (::send(wire.peer.get(), block.data(), block.size(), MSG_NOSIGNAL) < 0) return;
  });
  const std::size_t before = resident();
  while (wire.line.receive()) {
    CHECK_FALSE(wire.line.next_line());
    std::this_thread::yield();
  }
  CHECK(resident() < before + (std::size_t{16} << 20));
  ::shutdown(wire.line.fd(), SHUT_RDWR);
  writer.join();
}

TEST_CASE("a hundred thousand lines are taken in a time that does not grow with their square") {
  Wire wire(std::size_t{4} << 20);
  constexpr std::size_t k_lines = 400'000;
  std::thread writer([&] {
    std::string text;
    for (std::size_t i = 0; i < k_lines; ++i) text += "12345678\n";
    std::string_view left = text;
    while (!left.empty()) {
      const ssize_t n = ::send(wire.peer.get(), left.data(), left.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      left.remove_prefix(static_cast<std::size_t>(n));
    }
    ::shutdown(wire.peer.get(), SHUT_WR);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::size_t taken = 0;
  for (bool alive = true; alive;) {
    alive = wire.line.receive();
    while (wire.line.next_line()) ++taken;
  }
  writer.join();
  CHECK(taken == k_lines);
}

TEST_CASE("what is sent arrives with a newline each, also when the peer reads late") {
  Wire wire;
  wire.line.send("one");
  wire.line.send("two");
  CHECK(wire.peer_reads() == "one\ntwo\n");
  CHECK_FALSE(wire.line.wants_to_write());
  const std::string big(4 << 20, 'x');
  wire.line.send(big);
  CHECK(wire.line.wants_to_write());
  std::size_t got = 0;
  while (got < big.size() + 1) {
    got += wire.peer_reads().size();
    REQUIRE(wire.line.flush());
  }
  CHECK_FALSE(wire.line.wants_to_write());
  CHECK(got == big.size() + 1);
}

TEST_CASE("sending to a peer that is gone is no signal and no crash") {
  Wire wire;
  wire.peer.reset();
  wire.line.send("anybody there?");
  CHECK_FALSE(wire.line.flush());
  CHECK_FALSE(wire.line.receive());
}
