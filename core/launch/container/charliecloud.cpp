// SPDX-License-Identifier: Apache-2.0
// Charliecloud, see ch-run(1). ch-run becomes the program (execve(2)), so nothing has to forward
// signals and exit codes. It shares /dev, /proc, /sys and /tmp with the node, has no read-only
// mounts, and cannot create mount points in an image that it does not write to. ch-fromhost(1) puts
// GPU drivers into the image.
#include "core/launch/container/container.hpp"

namespace dts::launch {
namespace {

bool is_shared(const spec::ContainerMount& mount) {
  return mount.source == mount.target &&
         (mount.target.starts_with("/dev/") || mount.target.starts_with("/tmp/") ||
          mount.target == "/tmp");
}

ContainerCommand by_charliecloud(const ContainerOrder& order) {
  ContainerCommand command;
  command.argv = {"ch-run"};
  for (const spec::ContainerMount& mount : order.mounts)
    if (!is_shared(mount)) command.argv.push_back("--bind=" + mount.source + ":" + mount.target);
  command.argv.insert(command.argv.end(), {"--cd=" + order.folder, order.image.name, "--"});
  command.argv.insert(command.argv.end(), order.program.begin(), order.program.end());
  // Another TMPDIR would be mounted at /tmp and could hide the run's folders there.
  command.environment = {{"TMPDIR", "/tmp"}};
  return command;
}

}  // namespace

const ContainerType k_charliecloud_runtime{
    "ch-run",
    {ImageKind::folder, ImageKind::squashfs, ImageKind::reference},
    nullptr,
    false,
    false,
    true,
    by_charliecloud};

}  // namespace dts::launch
