// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/wait.hpp"

#include "core/base/os/detached_call.hpp"
#include "core/base/os/process.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <latch>

using namespace dts;

namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::time_point k_never = Clock::time_point::max();

}  // namespace

TEST_CASE("ready descriptors are named, and one that is not open ends the wait") {
  Pipe first, second;
  REQUIRE(first.open());
  REQUIRE(second.open());
  REQUIRE(::write(second.write_end.get(), "x", 1) == 1);
  std::array<pollfd, 3> fds{{{first.read_end.get(), POLLIN, POLLIN},
                             {second.read_end.get(), POLLIN, 0},
                             {-1, POLLIN, 0}}};
  REQUIRE(wait_for_any(fds, k_never));
  CHECK(fds[0].revents == 0);
  CHECK(fds[1].revents == POLLIN);
  CHECK(fds[2].revents == 0);
}

TEST_CASE("a wait ends at its time, never before, and not at all in the past") {
  Pipe pipe;
  REQUIRE(pipe.open());
  const auto until = Clock::now() + std::chrono::microseconds(2500);
  CHECK_FALSE(wait_readable(pipe.read_end.get(), until));
  CHECK(Clock::now() >= until);
  CHECK_FALSE(wait_readable(pipe.read_end.get(), Clock::time_point::min()));
  CHECK_FALSE(wait_readable(-1, Clock::now()));
}

TEST_CASE("a detached call's answer is an event, and is taken once") {
  DetachedCall<int> call;
  CHECK_FALSE(call.is_pending());
  CHECK(call.event_fd() == -1);
  CHECK_FALSE(call.take());
  auto go = std::make_shared<std::latch>(1);
  call.start([go] {
    go->wait();
    return 7;
  });
  CHECK(call.is_pending());
  CHECK_FALSE(call.take());
  CHECK_FALSE(wait_readable(call.event_fd(), Clock::now()));
  go->count_down();
  REQUIRE(wait_readable(call.event_fd(), k_never));
  CHECK(call.take() == 7);
  CHECK_FALSE(call.is_pending());
  CHECK_FALSE(call.take());
}

TEST_CASE("a detached call may end after the object that began it") {
  auto go = std::make_shared<std::latch>(1);
  auto over = std::make_shared<std::latch>(1);
  {
    DetachedCall<std::string> call;
    call.start([go, over] {
      go->wait();
      over->count_down();
      return std::string(100, 'x');
    });
  }
  go->count_down();
  over->wait();
}
