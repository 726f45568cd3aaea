// SPDX-License-Identifier: Apache-2.0
// Podman: the container stays in the job's control groups, and with an ordinary user's own uid.
// podman-run(1); GPUs by the container device interface, "Support for Container Device Interface"
// of the NVIDIA Container Toolkit's guide.
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
  // What a killed client has left is replaced. Without control groups of its own, which needs crun,
  // the container is bound, limited and ended as the rank is; Podman wants a PID namespace then.
  add({"--replace", "--cgroups=disabled"});
  // It changes its own limits and umask when it starts, so that the container does not inherit them
  // from the rank; `host` is refused beside others.
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
