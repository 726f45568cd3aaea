// SPDX-License-Identifier: Apache-2.0
#include "core/launch/container/oci_options.hpp"

namespace dts::launch {

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
