// SPDX-License-Identifier: Apache-2.0
// Examines Slurm's configuration before libslurm or a command reads it.
#pragma once

#include "plugins/slurm_shared/failure.hpp"

#include <string>

namespace slurm_plugin {

// The file that libslurm will read: $SLURM_CONF, otherwise the first of its standard locations that
// exists; empty if there is none (libslurm then asks DNS for a configless controller).
[[nodiscard]] std::string configuration_file();

// Detects, as far as the file reveals it, what would make libslurm exit, or make it and the
// commands wait a minute: file absent or unreadable, no ClusterName or SlurmctldHost, a missing
// include.
[[nodiscard]] Outcome<void> check_configuration(const std::string& path);

}  // namespace slurm_plugin
