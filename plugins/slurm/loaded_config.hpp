// SPDX-License-Identifier: Apache-2.0
// The controller's configuration, one RPC.
#pragma once

#include "plugins/slurm/message.hpp"
#include "plugins/slurm/releases.hpp"

#include <slurm/slurm.h>

namespace slurm_plugin {

using Config = Message<slurm_conf_t, free_configuration>;

// nullptr, with errno set, if the controller does not answer, or speaks another release's protocol.
inline Config load_config() {
  slurm_conf_t* raw = nullptr;
  return Config(slurm_load_ctl_conf(0, &raw) == SLURM_SUCCESS ? raw : nullptr);
}

}  // namespace slurm_plugin
