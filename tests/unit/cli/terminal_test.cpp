// SPDX-License-Identifier: Apache-2.0
// When messages have colours, asked at a real pseudo-terminal; and what Ctrl-C does.
#include "cli/output/terminal.hpp"

#include "cli/commands/interruptible_wait.hpp"
#include "core/base/files/unique_fd.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace dts::cli {

TEST_CASE("colours need a terminal of a known kind, and nobody who does not want them") {
  struct Case {
    const char* type;
    const char* no_colour;
    bool wants;
  };

  for (const Case& c : {Case{"xterm", nullptr, true},
                        {"xterm", "", true},
                        {"xterm", "1", false},
                        {"dumb", nullptr, false},
                        {"", nullptr, false},
                        {nullptr, nullptr, false}}) {
    CAPTURE((c.type == nullptr ? "unset" : c.type));
    CHECK(tests::in_child([&] {
            const UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY));
            if (!master.valid() || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0)
              return 2;
            const UniqueFd terminal(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY));
            const UniqueFd file(::open("/dev/null", O_WRONLY));
            ::unsetenv("TERM");
            ::unsetenv("NO_COLOR");
            if (c.type != nullptr) ::setenv("TERM", c.type, 1);
            if (c.no_colour != nullptr) ::setenv("NO_COLOR", c.no_colour, 1);
            return wants_colour(terminal.get()) == c.wants && !wants_colour(file.get()) ? 0 : 1;
          }) == 0);
  }
}

TEST_CASE("a SIGINT ends the waiting, except where it is ignored, as of a background command") {
  for (const bool is_ignored : {false, true}) {
    CAPTURE(is_ignored);
    CHECK(tests::in_child([&] {
            std::signal(SIGINT, is_ignored ? SIG_IGN : SIG_DFL);
            const InterruptibleWait wait("the waiting ends here");
            const pthread_t waiting = ::pthread_self();
            std::thread sender([&] {
              std::this_thread::sleep_for(std::chrono::milliseconds(100));
              ::pthread_kill(waiting, SIGINT);
            });
            wait.pause(std::chrono::milliseconds(400));
            sender.join();
            return 7;
          }) == (is_ignored ? 7 : 128 + SIGINT));
  }
}

}  // namespace dts::cli
