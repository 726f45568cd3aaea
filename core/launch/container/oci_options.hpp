// SPDX-License-Identifier: Apache-2.0
// What `podman run` and `docker run` have in common. Pure.
#pragma once

#include "core/launch/container/container.hpp"

namespace dts::launch {

// Up to the image: namespaces, streams, signals, mounts, the names of the variables.
//
//   --network, --ipc, --uts=host  ranks meet at the node's addresses and share /dev/shm
//   --init=false                  the program itself gets the signals that --sig-proxy passes on
//   --log-driver=none             the output is in the rank's log alone
//   --env=NAME                    with the value of the client's own environment
//   --entrypoint                  the program, without the script that the image starts it by
[[nodiscard]] std::vector<std::string> oci_options(const ContainerOrder& order);

// Device nodes of AMD GPUs, and those beside GPUs.
[[nodiscard]] std::vector<std::string> oci_devices(const ContainerOrder& order);

// A --ulimit each, of those that the option knows; without a hard limit the soft one is both.
[[nodiscard]] std::vector<std::string> oci_limits(const ContainerOrder& order);

enum class InShell { limits, limits_and_umask };

// The program, behind a shell of the image where something has to be set that has no option: a
// limit, or the umask.
[[nodiscard]] std::vector<std::string> prepared_program(const ContainerOrder& order, InShell what);

}  // namespace dts::launch
