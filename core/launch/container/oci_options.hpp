// SPDX-License-Identifier: Apache-2.0
// What `podman run` and `docker run` have in common. Pure.
#pragma once

#include "core/launch/container/container.hpp"

namespace dts::launch {

// The options before the image: namespaces, streams, signals, mounts, and the names of variables.
//
//   --network, --ipc, --uts=host  ranks meet at the node's addresses and share /dev/shm
//   --init=false                  the program itself gets the signals that --sig-proxy forwards
//   --log-driver=none             the output is only in the rank's log
//   --env=NAME                    takes the value from the client's own environment
//   --entrypoint                  starts the program without the image's entry point script
[[nodiscard]] std::vector<std::string> oci_options(const ContainerOrder& order);

// Device nodes of AMD GPUs, and devices other than GPUs.
[[nodiscard]] std::vector<std::string> oci_devices(const ContainerOrder& order);

// One --ulimit per limit that the option knows. Without a hard limit, the soft limit is used for
// both.
[[nodiscard]] std::vector<std::string> oci_limits(const ContainerOrder& order);

enum class InShell { limits, limits_and_umask };

// The program, started by a shell of the image if a limit or the umask has to be set for which
// there is no option.
[[nodiscard]] std::vector<std::string> prepared_program(const ContainerOrder& order, InShell what);

}  // namespace dts::launch
