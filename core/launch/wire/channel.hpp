// SPDX-License-Identifier: Apache-2.0
// How our own short-lived processes, which have one thing to report, reach the agent.
#pragma once

#include "core/base/net/line_connection.hpp"
#include "core/launch/wire/protocol.hpp"

#include <chrono>
#include <string>

namespace dts::launch {

// Usual for the first file of the run that a process of another node reads; if the node has no run
// directory at all, a step says that.
inline constexpr std::chrono::seconds k_channel_lag{30};

// Reads attempt-<k>/channel.json below `run_directory`; waits up to `lag` for one that is missing,
// as this node may see late what another one has written.
[[nodiscard]] Result<ChannelFile> read_channel(const std::string& run_directory,
                                               unsigned attempt,
                                               std::chrono::seconds lag = {});

// Connects, sends the message and closes. Errc::unreachable if the agent is gone.
[[nodiscard]] Result<void> tell_agent(const ChannelFile& channel, const FromRank& message);

// Opens a connection that the agent keeps open for as long as it lives. Errc::unreachable if the
// agent is gone.
[[nodiscard]] Result<LineConnection> attach_to_agent(const ChannelFile& channel);

// True if a process still listens at the channel's addresses.
[[nodiscard]] bool agent_lives(const ChannelFile& channel);

}  // namespace dts::launch
