// SPDX-License-Identifier: Apache-2.0
// A rank's first message: its identity, its node, and the GPUs and addresses that it sees.
#pragma once

#include "core/launch/launcher/identity.hpp"
#include "core/launch/wire/protocol.hpp"

#include <string>

namespace dts::launch {

// `node`: the node's name if the launcher passed it; empty: it is determined here. The port for the
// program's own server is not filled in.
[[nodiscard]] Hello make_hello(const ChannelFile& channel,
                               const Identity& identity,
                               const std::string& node);

}  // namespace dts::launch
