// SPDX-License-Identifier: Apache-2.0
// Apptainer, and SingularityCE, which has the same options. `exec` runs the program without the
// image's runscript, in the namespaces and control groups of the rank. Its parent process forwards
// signals if it has no terminal, as here. See apptainer-exec(1) and "Environment and Metadata" in
// the user guide (https://apptainer.org/docs/user/latest/environment_and_metadata.html).
#include "core/launch/container/container.hpp"

namespace dts::launch {
namespace {

std::string apptainer_image(const Image& image) {
  return image.kind == ImageKind::reference ? "docker://" + image.name : image.name;
}

// `prefix`: a variable PREFIXNAME sets NAME inside, overrides the image's value, and has an effect
// even with --cleanenv.
ContainerCommand exec_command(const ContainerOrder& order,
                              const char* program,
                              const std::string& prefix) {
  ContainerCommand command;
  command.argv = {program, "exec"};
  for (const spec::ContainerMount& mount : order.mounts)
    command.argv.push_back("--bind=" + to_text(mount));
  command.argv.push_back("--pwd=" + order.folder);
  if (order.gpus == GpuVendor::nvidia) command.argv.emplace_back("--nv");
  if (order.gpus == GpuVendor::amd) command.argv.emplace_back("--rocm");
  command.argv.push_back(apptainer_image(order.image));
  command.argv.insert(command.argv.end(), order.program.begin(), order.program.end());
  for (const auto& [name, value] : order.variables)
    command.environment.emplace_back(prefix + name, value);
  return command;
}

ContainerCommand by_apptainer(const ContainerOrder& order) {
  return exec_command(order, "apptainer", "APPTAINERENV_");
}

ContainerCommand by_singularity(const ContainerOrder& order) {
  return exec_command(order, "singularity", "SINGULARITYENV_");
}

const std::vector<ImageKind>& apptainer_images() {
  static const std::vector<ImageKind> kinds{ImageKind::folder,
                                            ImageKind::file,
                                            ImageKind::squashfs,
                                            ImageKind::reference,
                                            ImageKind::other};
  return kinds;
}

}  // namespace

const ContainerType k_apptainer_runtime{
    "apptainer", apptainer_images(), nullptr, true, true, false, by_apptainer};
const ContainerType k_singularity_runtime{
    "singularity", apptainer_images(), nullptr, true, true, false, by_singularity};

}  // namespace dts::launch
