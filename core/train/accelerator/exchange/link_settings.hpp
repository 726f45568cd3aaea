// SPDX-License-Identifier: Apache-2.0
// The settings of NCCL on this host, in the environment and in its configuration files.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace dts::train::accelerator {

// Values by names of variables; only NCCL_*.
using LinkSettings = std::map<std::string, std::string>;

// Adds the settings of a configuration file that `settings` does not have yet, read as NCCL does:
// lines NAME=VALUE, where blanks have no special meaning; the first of two lines for a name counts,
// and lines that begin with # or have no = are ignored (NCCL user guide, "Environment Variables";
// setEnvFile() in its source).
void add_file_settings(std::string_view text, LinkSettings& settings);

// The settings of the environment, then of the file NCCL_CONF_FILE or, if that is not set,
// .nccl.conf in the user's home folder, then of /etc/nccl.conf. NCCL_HOSTID, which differs between
// hosts, is omitted. As in NCCL, files that cannot be read are ignored.
[[nodiscard]] LinkSettings link_settings_here();

}  // namespace dts::train::accelerator
