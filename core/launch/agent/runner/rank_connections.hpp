// SPDX-License-Identifier: Apache-2.0
// The control channel's connections: who may have one, what they say to the attempt, and what it
// sends to them. One thread.
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
  // `on_notice`: a step of the job has something to say.
  RankConnections(const AttemptSettings& settings,
                  Attempt& attempt,
                  std::function<void(const Notice&)> on_notice)
      : settings_(settings), attempt_(attempt), on_notice_(std::move(on_notice)) {}

  // Listens, and writes channel.json for the ranks.
  [[nodiscard]] Result<void> open();

  // Readable when somebody calls, or says something.
  [[nodiscard]] int listener() const { return listener_.get(); }

  [[nodiscard]] int ready() const { return ready_.get(); }

  void accept();
  void serve();
  // The attempt's messages.
  void deliver();
  // Those that have not said who they are.
  void drop_silent(Time now);

 private:
  struct Connection {
    LineConnection line;
    std::string reached_at;
    Time since;
    std::size_t held = 0;   // bytes of an unfinished line, while it is a stranger
    bool is_known = false;  // has shown the token
  };

  void listen_to(int peer, bool and_write);
  [[nodiscard]] bool read(int peer);  // false: to be dropped
  [[nodiscard]] bool take(int peer, Connection& connection, FromRank message);  // likewise
  void welcome(int peer, Connection& connection);
  void hold(Connection& connection, std::size_t bytes);
  void keep_strangers_small();
  void log_refusal(int peer, const std::string& why);
  void drop(int peer);

  const AttemptSettings& settings_;
  Attempt& attempt_;
  std::function<void(const Notice&)> on_notice_;
  UniqueFd listener_;
  UniqueFd ready_;                   // epoll: poll(2) over thousands of ranks is most of the work
  std::map<int, Connection> peers_;  // by file descriptor
  std::vector<int> strangers_;       // those without a valid hello, in the order they came
  std::size_t held_ = 0;             // bytes of all strangers
  unsigned refusals_ = 0;
};

}  // namespace dts::launch
