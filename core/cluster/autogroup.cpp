// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/autogroup.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/text/text.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace dts::cluster {
namespace {

constexpr const char* k_switch = "/proc/sys/kernel/sched_autogroup_enabled";

bool set(char value) {
  const UniqueFd fd(::open(k_switch, O_WRONLY | O_CLOEXEC));
  return fd.valid() && ::write(fd.get(), &value, 1) == 1;
}

std::string note(const std::string& folder) {
  return folder + "/autogroups-were-on";
}

}  // namespace

void switch_autogroups_off(const std::string& folder) {
  const auto now = read_file(k_switch);
  // A plain user may not, and some kernels have none: the cluster still works, only less evenly.
  if (!now || trim(*now) != "1" || !set('0')) return;
  if (!write_file(note(folder), "1\n")) set('1');
}

void restore_autogroups(const std::string& folder) {
  if (exists(note(folder))) set('1');
}

}  // namespace dts::cluster
