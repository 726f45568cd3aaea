// SPDX-License-Identifier: Apache-2.0
#include "core/launch/container/oci_options.hpp"

#include <fmt/format.h>

namespace dts::launch {
namespace {

// The only limit that `--ulimit` does not know (github.com/docker/go-units, ulimit.go).
bool is_set_in_shell(const ResourceLimit& limit) {
  return limit.resource == RLIMIT_AS;
}

// -1 means unlimited.
std::string number_of(rlim_t value) {
  return value == RLIM_INFINITY ? "-1" : std::to_string(value);
}

// sh(1) counts in KiB. The hard limit is set last, because it must not be below the current soft
// limit.
std::string line_of_shell(const ResourceLimit& limit) {
  const auto number = [](rlim_t value) {
    return value == RLIM_INFINITY ? std::string("unlimited") : std::to_string(value / 1024);
  };
  std::string line = fmt::format("ulimit -S -v {} && ", number(limit.soft));
  if (limit.hard) line += fmt::format("ulimit -H -v {} && ", number(*limit.hard));
  return line;
}

}  // namespace

std::vector<std::string> oci_limits(const ContainerOrder& order) {
  std::vector<std::string> words;
  for (const ResourceLimit& limit : order.limits)
    if (!is_set_in_shell(limit))
      words.push_back(fmt::format("--ulimit={}={}{}",
                                  limit.name,
                                  number_of(limit.soft),
                                  limit.hard ? ":" + number_of(*limit.hard) : ""));
  return words;
}

std::vector<std::string> prepared_program(const ContainerOrder& order, InShell what) {
  std::string lines;
  if (order.umask && what == InShell::limits_and_umask)
    lines += fmt::format("umask {:04o} && ", *order.umask);
  for (const ResourceLimit& limit : order.limits)
    if (is_set_in_shell(limit)) lines += line_of_shell(limit);
  if (lines.empty()) return order.program;
  std::vector<std::string> program{"sh", "-c", lines + "exec \"$@\"", "sh"};
  program.insert(program.end(), order.program.begin(), order.program.end());
  return program;
}

std::vector<std::string> oci_options(const ContainerOrder& order) {
  std::vector<std::string> words{"--rm",
                                 "--name=" + order.name,
                                 "--network=host",
                                 "--ipc=host",
                                 "--uts=host",
                                 "--init=false",
                                 "--sig-proxy=true",
                                 "--log-driver=none",
                                 "--security-opt=label=disable"};
  for (const spec::ContainerMount& mount : order.mounts)
    words.push_back("--volume=" + to_text(mount));
  words.push_back("--workdir=" + order.folder);
  for (const auto& [name, value] : order.variables) words.push_back("--env=" + name);
  for (const std::string& name : order.inherited) words.push_back("--env=" + name);
  words.push_back("--entrypoint=" + order.program.at(0));
  return words;
}

std::vector<std::string> oci_devices(const ContainerOrder& order) {
  std::vector<std::string> words;
  if (order.gpus == GpuVendor::amd) words = {"--device=/dev/kfd", "--device=/dev/dri"};
  for (const std::string& device : order.devices) words.push_back("--device=" + device);
  return words;
}

}  // namespace dts::launch
