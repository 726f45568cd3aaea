// SPDX-License-Identifier: Apache-2.0
// Podman: the container stays in the job's control groups and keeps the uid of an ordinary user.
// See podman-run(1), and for GPUs "Support for Container Device Interface" in the guide of the
// NVIDIA Container Toolkit.
#include "core/launch/container/oci_options.hpp"

#include <fmt/format.h>

namespace dts::launch {
namespace {

ContainerCommand by_podman(const ContainerOrder& asked) {
  ContainerOrder order = asked;
  order.program = prepared_program(order, InShell::limits);
  ContainerCommand command;
  command.argv = {"podman", "run"};
  const auto add = [&command](const std::vector<std::string>& words) {
    command.argv.insert(command.argv.end(), words.begin(), words.end());
  };
  add(oci_options(order));
  // --replace removes the container of a client that was killed. Without control groups of its own
  // (needs crun), the container is bound, limited and ended like the rank; Podman then insists on a
  // PID namespace.
  add({"--replace", "--cgroups=disabled"});
  // Podman changes its own limits and umask when it starts, so the container does not inherit those
  // of the rank. `host` cannot be combined with other limits.
  const std::vector<std::string> limits = oci_limits(order);
  add(limits.empty() ? std::vector<std::string>{"--ulimit=host"} : limits);
  command.sets_limits = true;
  if (order.umask) add({fmt::format("--umask={:04o}", *order.umask)});
  if (order.uid != 0) add({"--userns=keep-id", "--group-add=keep-groups"});
  if (order.gpus == GpuVendor::nvidia) add({"--device=nvidia.com/gpu=all"});
  add(oci_devices(order));
  if (order.image.kind == ImageKind::folder) add({"--read-only", "--rootfs"});
  add({order.image.name});
  add({order.program.begin() + 1, order.program.end()});
  command.removal = {"podman", "rm", "--force", "--ignore", "--time=0", order.name};
  return command;
}

}  // namespace

const ContainerType k_podman_runtime{
    "podman", {ImageKind::folder, ImageKind::reference}, nullptr, true, true, false, by_podman};

}  // namespace dts::launch
