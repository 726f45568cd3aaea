// SPDX-License-Identifier: Apache-2.0
// A non-blocking socket that carries one message per line. For use by one thread at a time.
#pragma once

#include "core/base/files/unique_fd.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dts {

class LineConnection {
 public:
  // Takes ownership of the socket and makes it non-blocking. `limit`: the maximum length of a
  // peer's line in bytes.
  LineConnection(UniqueFd fd, std::size_t limit);

  [[nodiscard]] int fd() const { return fd_.get(); }

  // Reads the available data; take all lines before the next call. False if the peer is gone or
  // sent a line over the limit: then drop the connection after the last next_line().
  [[nodiscard]] bool receive();

  // The next complete line without its newline.
  [[nodiscard]] std::optional<std::string> next_line();

  // Queues a line and writes as much as possible; flush() writes the rest.
  void send(std::string_view line);

  // False once the peer is gone.
  [[nodiscard]] bool flush();

  [[nodiscard]] bool wants_to_write() const { return !out_.empty(); }

  void set_limit(std::size_t limit) { limit_ = limit; }

  // The length of an incomplete last line in bytes.
  [[nodiscard]] std::size_t held() const { return in_.size() - begin_; }

 private:
  UniqueFd fd_;
  std::size_t limit_;
  std::string in_;
  std::size_t begin_ = 0;    // lines before this position of in_ have been taken
  std::size_t scanned_ = 0;  // no newline before this position of in_
  std::string out_;
};

}  // namespace dts
