// SPDX-License-Identifier: Apache-2.0
// The control channel for processes of ours that have one thing to say.
#pragma once

#include "core/base/net/line_connection.hpp"
#include "core/launch/wire/protocol.hpp"

#include <string>

namespace dts::launch {

// attempt-<k>/channel.json below `run_directory`.
[[nodiscard]] Result<ChannelFile> read_channel(const std::string& run_directory, unsigned attempt);

// Connects, says it and leaves. Errc::unreachable where the agent is gone.
[[nodiscard]] Result<void> tell_agent(const ChannelFile& channel, const FromRank& message);

// A connection that the agent keeps open for as long as it lives. Errc::unreachable as above.
[[nodiscard]] Result<LineConnection> attach_to_agent(const ChannelFile& channel);

// True where somebody listens there still.
[[nodiscard]] bool agent_lives(const ChannelFile& channel);

}  // namespace dts::launch
