// SPDX-License-Identifier: Apache-2.0
// What a rank says of itself first: its identity, its node, the GPUs and addresses it sees.
#pragma once

#include "core/launch/launcher/identity.hpp"
#include "core/launch/wire/protocol.hpp"

#include <string>

namespace dts::launch {

// `node`: the node's name where the launcher has said it; empty: it is found here. Without the port
// that is held for the program's own server.
[[nodiscard]] Hello make_hello(const ChannelFile& channel,
                               const Identity& identity,
                               const std::string& node);

}  // namespace dts::launch
