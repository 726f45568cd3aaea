// SPDX-License-Identifier: Apache-2.0
// Pyxis, NVIDIA's plug-in of Slurm over enroot: https://github.com/NVIDIA/pyxis/wiki/Usage
// All exported variables are set inside unless the image sets them; --container-env names those
// that win over the image's. GPUs are made visible by enroot's hook, from NVIDIA_VISIBLE_DEVICES.
#include "core/base/text/text.hpp"
#include "core/launch/container/step_options.hpp"

namespace dts::launch {
namespace {

ContainerCommand by_pyxis(const ContainerOrder& order) {
  ContainerCommand command;
  command.argv = step_of_program(order);
  const bool is_file = order.image.kind == ImageKind::squashfs;
  std::vector<std::string> names;
  for (const auto& [name, value] : order.variables) names.push_back(name);
  command.argv.insert(
      command.argv.end(),
      {"--container-image=" + (is_file ? order.image.name : enroot_reference(order.image.name)),
       "--container-mounts=" + join(mount_texts(order), ","),
       "--container-workdir=" + order.folder,
       "--container-env=" + join(names, ","),
       "--no-container-entrypoint"});
  command.argv.insert(command.argv.end(), order.program.begin(), order.program.end());
  if (order.gpus == GpuVendor::nvidia)
    command.environment = {{"NVIDIA_VISIBLE_DEVICES", "all"},
                           {"NVIDIA_DRIVER_CAPABILITIES", "compute,utility"}};
  command.removal = end_of_step(order);
  command.remove_first = true;
  return command;
}

}  // namespace

const ContainerType k_pyxis_runtime{"srun",
                                    "--container-image",
                                    {ImageKind::squashfs, ImageKind::reference},
                                    true,
                                    true,
                                    false,
                                    by_pyxis};

}  // namespace dts::launch
