// SPDX-License-Identifier: Apache-2.0
// Starts libslurm, which ends the process if it rejects its configuration.
#pragma once

#include "plugins/slurm/failure.hpp"

#include <string>

namespace slurm_plugin {

// Reads Slurm's configuration, once per process; later calls return the outcome of the first. With
// `probe`, a child process tries it first, so that no configuration can end this process; that
// costs some 3 ms. Without it, a broken file ends the process with exit code 4 and a message.
// Thread-safe.
[[nodiscard]] Outcome<void> open_library(bool probe);

// The file that libslurm will read: $SLURM_CONF, otherwise the first of its standard locations that
// exists; empty if there is none (libslurm then asks DNS for a configless controller).
[[nodiscard]] std::string configuration_file();

// Detects what would make libslurm exit, or wait a minute for a missing file, as far as the file
// reveals it: file absent or unreadable, no ClusterName or SlurmctldHost, a missing include.
[[nodiscard]] Outcome<void> check_configuration(const std::string& path);

}  // namespace slurm_plugin
