// SPDX-License-Identifier: Apache-2.0
// Processes that write to the same file at the same time.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

namespace dts::tests {

// Calls write(0), write(1), ... at once, each in a process of its own, and waits for them. Each
// must return true.
inline void write_at_once(unsigned writers, const std::function<bool(unsigned writer)>& write) {
  std::vector<pid_t> processes;
  for (unsigned writer = 0; writer < writers; ++writer) {
    const pid_t process = ::fork();
    if (process == 0) ::_exit(write(writer) ? 0 : 1);
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = 0;
    REQUIRE(::waitpid(process, &status, 0) == process);
    CHECK(status == 0);
  }
}

}  // namespace dts::tests
