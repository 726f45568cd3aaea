// SPDX-License-Identifier: Apache-2.0
// Signals arrive as events, and none is lost. Each test blocks signals, so each runs in a child.
#include "core/base/os/signals.hpp"

#include "core/launch/job/stop_way.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <set>

namespace {

using namespace dts;
using namespace dts;
using tests::in_child;

}  // namespace

TEST_CASE("a signal that was taken is read as an event and kills nobody") {
  CHECK(in_child([] {
          const auto fd = take_signals({SIGTERM, SIGUSR1});
          if (!fd || read_signal(fd->get())) return 1;
          ::kill(::getpid(), SIGTERM);
          ::kill(::getpid(), SIGUSR1);
          std::set<int> seen;
          while (const auto signal = read_signal(fd->get())) seen.insert(*signal);
          return seen == std::set<int>{SIGTERM, SIGUSR1} ? 0 : 2;
        }) == 0);
}

TEST_CASE("a signal sent between two reads is never lost") {
  CHECK(in_child([] {
          const auto fd = take_signals({SIGTERM});
          if (!fd) return 1;
          for (unsigned i = 0; i < 10'000; ++i) {
            ::kill(::getpid(), SIGTERM);
            if (read_signal(fd->get()) != SIGTERM) return 2;
          }
          return read_signal(fd->get()) ? 3 : 0;
        }) == 0);
}

TEST_CASE("other signals keep their meaning, and a broken pipe is no signal") {
  CHECK(in_child([] {
          const auto fd = take_signals({SIGTERM});
          if (!fd) return 1;
          int ends[2];
          if (::pipe(ends) != 0) return 2;
          ::close(ends[0]);
          if (::write(ends[1], "x", 1) != -1) return 3;
          ::kill(::getpid(), SIGUSR2);
          return 4;
        }) == 128 + SIGUSR2);
}

TEST_CASE("a wait ends with its signal, and with none but that") {
  struct Row {
    const char* what;
    int signal;
    bool is_awaited;
  };

  for (const Row& row : {Row{"SIGTERM", SIGTERM, true},
                         {"SIGINT", SIGINT, true},
                         {"SIGUSR2", SIGUSR2, false},
                         {"SIGHUP", SIGHUP, false}}) {
    CAPTURE(row.what);
    CHECK(in_child([&] {
            const auto fd = take_signals({SIGTERM, SIGINT, SIGUSR2, SIGHUP});
            if (!fd) return 1;
            const std::chrono::seconds limit(row.is_awaited ? 600 : 1);
            ::kill(::getpid(), row.signal);
            const auto ended_by = wait_for_one_of(fd->get(), {SIGTERM, SIGINT}, limit);
            const std::optional<int> number =
                ended_by ? std::optional(ended_by->number) : std::nullopt;
            return number == (row.is_awaited ? std::optional(row.signal) : std::nullopt) ? 0 : 2;
          }) == 0);
  }
}
