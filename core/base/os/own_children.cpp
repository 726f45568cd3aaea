// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/own_children.hpp"

#include "core/base/os/process_table.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace dts {

std::vector<pid_t> own_children(const std::vector<pid_t>& spared) {
  std::vector<pid_t> found = children_of_thread(::getpid(), ::getpid());
  std::erase_if(found, [&](pid_t pid) {
    return std::find(spared.begin(), spared.end(), pid) != spared.end();
  });
  return found;
}

void reap_children(const std::vector<pid_t>& spared) {
  for (const pid_t pid : own_children(spared)) ::waitpid(pid, nullptr, WNOHANG);
}

bool signal_children(int number, const std::vector<pid_t>& spared) {
  bool any = false;
  for (const pid_t pid : own_children(spared)) any = ::kill(pid, number) == 0 || any;
  return any;
}

void kill_children(const std::vector<pid_t>& spared) {
  // Each round kills one generation: the children of a killed process then become ours.
  for (int round = 0; round < 100; ++round) {
    const std::vector<pid_t> left = own_children(spared);
    if (left.empty()) return;
    for (const pid_t pid : left) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
}

}  // namespace dts
