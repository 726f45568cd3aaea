// SPDX-License-Identifier: Apache-2.0
// Shifter: it becomes the program (execvpe(3)) with the rank's variables. The site's image gateway
// provides the images, and Shifter's modules provide GPU drivers.
// https://shifter.readthedocs.io/en/latest/command/shifter.html
#include "core/launch/container/container.hpp"

namespace dts::launch {
namespace {

ContainerCommand by_shifter(const ContainerOrder& order) {
  ContainerCommand command;
  command.argv = {"shifter", "--image=docker:" + order.image.name};
  for (const spec::ContainerMount& mount : order.mounts)
    command.argv.push_back("--volume=" + to_text(mount));
  command.argv.push_back("--workdir=" + order.folder);
  command.argv.insert(command.argv.end(), order.program.begin(), order.program.end());
  return command;
}

}  // namespace

const ContainerType k_shifter_runtime{
    "shifter", {ImageKind::reference}, nullptr, false, true, false, by_shifter};

}  // namespace dts::launch
