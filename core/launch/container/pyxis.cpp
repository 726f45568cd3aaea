// SPDX-License-Identifier: Apache-2.0
// Pyxis is NVIDIA's Slurm plug-in that starts a step's tasks with enroot. As an option of srun, it
// would either put `dtsubmit rank` into the image, or need a step for each program, whose srun
// answers SIGTERM by sending SIGKILL to its task. Therefore we start enroot itself, which a node
// with pyxis has. It becomes the program: enroot-switchroot(1) executes the command script, which
// executes the program. https://github.com/NVIDIA/enroot/blob/master/doc/cmd/start.md,
// image-format.md and standard-hooks.md.
#include "core/base/text/text.hpp"
#include "core/launch/container/container.hpp"

#include <fmt/format.h>

namespace dts::launch {
namespace {

// Fields of fstab(5), separated by colons.
std::string enroot_mount(const spec::ContainerMount& mount) {
  return mount.source + ":" + mount.target + ":none:x-create=auto,rbind," +
         (mount.read_only ? "ro" : "rw");
}

ContainerCommand by_enroot(const ContainerOrder& order) {
  ContainerCommand command;
  command.argv = {"enroot", "start", "--rc", order.file};
  const auto add = [&command](const std::string& option, const std::string& value) {
    command.argv.insert(command.argv.end(), {option, value});
  };
  for (const spec::ContainerMount& mount : order.mounts) add("--mount", enroot_mount(mount));
  for (const auto& [name, value] : order.variables) add("--env", name);
  for (const std::string& name : order.inherited) add("--env", name);
  // Enroot's hooks for GPUs and InfiniBand read these.
  if (order.gpus == GpuVendor::nvidia)
    command.environment = {{"NVIDIA_VISIBLE_DEVICES", "all"},
                           {"NVIDIA_DRIVER_CAPABILITIES", "compute,utility"}};
  if (!order.devices.empty()) command.environment.emplace_back("MELLANOX_VISIBLE_DEVICES", "all");
  for (const auto& [name, value] : command.environment) add("--env", name);
  command.argv.push_back(order.image.name);
  command.argv.insert(command.argv.end(), order.program.begin(), order.program.end());
  // Replaces the image's own command script, which may start something else.
  if (order.umask) command.file_text = fmt::format("umask {:04o} && ", *order.umask);
  command.file_text += "cd " + shell_quote(order.folder) + " && exec \"$@\"\n";
  return command;
}

}  // namespace

const ContainerType k_pyxis_runtime{
    "enroot",
    {ImageKind::squashfs},
    "enroot reads a SquashFS file: enroot import -o IMAGE.sqsh docker://REGISTRY#NAME",
    true,
    true,
    false,
    by_enroot};

}  // namespace dts::launch
