// SPDX-License-Identifier: Apache-2.0
// What NCCL is told on this host, by the environment and by its configuration files.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace dts::train::accelerator {

// Values by the names of variables, NCCL_* alone.
using LinkSettings = std::map<std::string, std::string>;

// Adds what a configuration file says and `settings` does not say yet, as NCCL reads it: a line
// NAME=VALUE each, without a meaning for blanks; of two lines the first counts, and lines that
// begin with # or have no = are left out (NCCL user guide, "Environment Variables"; setEnvFile() of
// its source).
void add_file_settings(std::string_view text, LinkSettings& settings);

// Those of the environment, then of the file that NCCL_CONF_FILE names or, without it, of
// .nccl.conf in the user's home folder, then of /etc/nccl.conf. NCCL_HOSTID, which tells hosts
// apart, is left out. A file that cannot be read says nothing, as for NCCL.
[[nodiscard]] LinkSettings link_settings_here();

}  // namespace dts::train::accelerator
