// SPDX-License-Identifier: Apache-2.0
// A folder that is removed after the test, and a child process with its own limits.
#pragma once

#include "core/base/files/files.hpp"
#include "core/base/os/process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace dts::tests {

struct TemporaryFolder {
  std::string path;

  TemporaryFolder() {
    char name[] = "/tmp/dtsubmit-test-XXXXXX";
    path = ::mkdtemp(name) != nullptr ? name : "";
  }

  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  ~TemporaryFolder() { (void)remove_all(path); }

  [[nodiscard]] std::string file(const std::string& name) const { return path + "/" + name; }
};

// Runs `body`, which returns an exit code, in a child that has a copy of the test's memory. Returns
// that exit code, or 128 + signal.
template <class Body>
int in_child(const Body& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return exit_code_of_wait_status(status);
}

}  // namespace dts::tests
