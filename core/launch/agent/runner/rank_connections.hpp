// SPDX-License-Identifier: Apache-2.0
// The connections of the control channel: decides who may connect, reads messages for the attempt,
// and sends the attempt's messages. Single-threaded.
#pragma once

#include "core/base/net/line_connection.hpp"
#include "core/launch/attempt/attempt.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dts::launch {

class RankConnections {
 public:
  // `on_notice` is called when a step of the job reports a signal.
  RankConnections(const AttemptSettings& settings,
                  Attempt& attempt,
                  std::function<void(const Notice&)> on_notice)
      : settings_(settings), attempt_(attempt), on_notice_(std::move(on_notice)) {}

  // Starts listening, and writes channel.json for the ranks.
  [[nodiscard]] Result<void> open();

  // Readable when a peer connects or sends something.
  [[nodiscard]] int listener() const { return listener_.get(); }

  [[nodiscard]] int ready() const { return ready_.get(); }

  void accept();
  void serve();
  // Sends the messages that the attempt has queued.
  void deliver();
  // Drops connections that did not identify themselves in time.
  void drop_silent(Time now);

 private:
  struct Connection {
    LineConnection line;
    std::string reached_at;
    Time since;
    std::size_t held = 0;   // size of an incomplete line before the hello
    bool is_known = false;  // has presented the token
  };

  void listen_to(int peer, bool and_write);
  [[nodiscard]] bool read(int peer);                                            // false: drop it
  [[nodiscard]] bool take(int peer, Connection& connection, FromRank message);  // false: drop it
  void welcome(int peer, Connection& connection);
  void hold(Connection& connection, std::size_t bytes);
  void limit_unidentified_bytes();
  void log_refusal(int peer, const std::string& why);
  void drop(int peer);

  const AttemptSettings& settings_;
  Attempt& attempt_;
  std::function<void(const Notice&)> on_notice_;
  UniqueFd listener_;
  UniqueFd ready_;  // epoll, because with thousands of ranks poll(2) would dominate
  std::map<int, Connection> peers_;  // by file descriptor
  std::vector<int> strangers_;       // no valid hello yet, in order of arrival
  std::size_t held_ = 0;             // bytes held for all strangers
  unsigned refusals_ = 0;
};

}  // namespace dts::launch
