// SPDX-License-Identifier: Apache-2.0
#include "core/launch/wire/channel.hpp"

#include "core/base/files/own_file.hpp"
#include "core/base/net/net.hpp"
#include "core/run/directory/run_directory.hpp"

#include <thread>

namespace dts::launch {
namespace {

// A file server may fail for a moment; without this file no rank can say so.
constexpr std::chrono::seconds k_outage{5};
constexpr std::chrono::seconds k_pause{1};

std::chrono::seconds patience_after(Errc code, std::chrono::seconds lag) {
  if (code == Errc::not_found) return lag;
  return code == Errc::io ? k_outage : std::chrono::seconds(0);
}

Result<UniqueFd> connect(const ChannelFile& channel) {
  constexpr std::chrono::milliseconds k_limit{2000};
  return connect_to_any(channel.addresses, channel.port, k_limit);
}

}  // namespace

Result<ChannelFile> read_channel(const std::string& run_directory,
                                 unsigned attempt,
                                 std::chrono::seconds lag) {
  const run::RunDirectory run{run_directory};
  const std::string path = run.attempt(attempt) + "/channel.json";
  auto text = read_own_file(path);
  for (std::chrono::seconds waited{0}; !text && waited < patience_after(text.error().code, lag);
       waited += k_pause) {
    std::this_thread::sleep_for(k_pause);
    text = read_own_file(path);
  }
  return std::move(text).and_then(parse_channel_file);
}

Result<void> tell_agent(const ChannelFile& channel, const FromRank& message) {
  DTS_ASSIGN(UniqueFd socket, connect(channel));
  LineConnection(std::move(socket), 1024).send(to_line(message));
  return {};
}

Result<LineConnection> attach_to_agent(const ChannelFile& channel) {
  DTS_ASSIGN(UniqueFd socket, connect(channel));
  LineConnection connection(std::move(socket), 1024);
  connection.send(to_line(Attached{channel.token}));
  return connection;
}

bool agent_lives(const ChannelFile& channel) {
  return connect(channel).has_value();
}

}  // namespace dts::launch
