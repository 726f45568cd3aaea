// SPDX-License-Identifier: Apache-2.0
#include "core/base/net/line_connection.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace dts {

namespace {

// A host that loses power or its network sends nothing: it counts as gone after 60 s of silence
// (tcp(7): 30 s idle, then 3 probes 10 s apart; TCP_USER_TIMEOUT does the same for sent data).
void enable_keepalive(int fd) {
  const auto set = [fd](int level, int option, int value) {
    ::setsockopt(fd, level, option, &value, sizeof value);  // no effect on other sockets
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 60000);
}

}  // namespace

LineConnection::LineConnection(UniqueFd fd, std::size_t limit) : fd_(std::move(fd)), limit_(limit) {
  ::fcntl(fd_.get(), F_SETFL, ::fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
  enable_keepalive(fd_.get());
}

bool LineConnection::receive() {
  char block[65536];
  while (true) {
    // One byte over the limit marks a line as too long; no more of it is kept.
    const std::size_t room = limit_ + 1 - std::min(limit_, in_.size() - begin_);
    const ssize_t n = ::recv(fd_.get(), block, std::min(room, sizeof block), 0);
    if (n == 0) return false;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    in_.append(block, static_cast<std::size_t>(n));
    // A peer that never ends its line must not fill our memory.
    if (in_.size() - begin_ > limit_ && in_.find('\n', scanned_) == std::string::npos) return false;
    if (in_.size() - begin_ > limit_) return true;  // let the caller take lines first
  }
}

std::optional<std::string> LineConnection::next_line() {
  const std::size_t end = in_.find('\n', scanned_);
  if (end == std::string::npos) {
    in_.erase(0, begin_);  // once for all lines taken, not for each
    begin_ = 0;
    scanned_ = in_.size();
    return std::nullopt;
  }
  std::string line = in_.substr(begin_, end - begin_);
  begin_ = scanned_ = end + 1;
  return line;
}

void LineConnection::send(std::string_view line) {
  out_ += line;
  out_ += '\n';
  [[maybe_unused]] const bool alive = flush();  // a dead peer shows at the next receive()
}

bool LineConnection::flush() {
  while (!out_.empty()) {
    const ssize_t n = ::send(fd_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    out_.erase(0, static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace dts
