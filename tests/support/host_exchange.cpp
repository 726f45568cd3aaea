// SPDX-License-Identifier: Apache-2.0
#include "tests/support/host_exchange.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

namespace host_device {
namespace {

std::string faults() {
  const char* const words = std::getenv("HOST_DEVICE_EXCHANGE");
  return words == nullptr ? "" : words;
}

// An abstract socket address, which needs no file.
std::pair<sockaddr_un, socklen_t> address_of(const std::string& id, int rank) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "dttrain-host-" + id + "-" + std::to_string(rank);
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

void sleep_briefly() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// The rest of a message that is being sent or received.
struct Left {
  std::byte* at;
  std::size_t bytes;
};

// Moves what can be moved now. Returns false if the other end is closed.
bool move(int socket, Left& left, bool sends) {
  while (left.bytes > 0) {
    const ssize_t moved = sends ? ::send(socket, left.at, left.bytes, MSG_NOSIGNAL | MSG_DONTWAIT)
                                : ::recv(socket, left.at, left.bytes, MSG_DONTWAIT);
    if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (moved <= 0) return false;
    left.at += moved;
    left.bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

}  // namespace

bool has_fault(const std::string& word) {
  return faults() == word;
}

bool HostLink::is_injected(const char* what, std::uint64_t number) const {
  return has_fault(std::string(what) + ":" + std::to_string(rank_) + ":" + std::to_string(number));
}

void HostLink::hang() const {
  while (!is_over_) sleep_briefly();
}

void HostLink::fail(const std::string& what) {
  if (is_over_ || is_wrong_) return;
  wrong_ = what;
  is_wrong_ = true;
}

void HostLink::join(const std::string& id, int ranks, int rank) {
  ranks_ = ranks;
  rank_ = rank;
  peers_.assign(static_cast<std::size_t>(ranks), -1);
  threads_.emplace_back([this, id] { connect(id); });
}

// Connects to lower ranks, each of which listens, and accepts connections of higher ones.
void HostLink::connect(const std::string& id) {
  if (has_fault("hang-init:" + std::to_string(rank_))) return hang();
  const int listening = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const auto [own, length] = address_of(id, rank_);
  if (::bind(listening, reinterpret_cast<const sockaddr*>(&own), length) != 0 ||
      ::listen(listening, ranks_) != 0)
    return fail(std::string("bind: ") + std::strerror(errno));
  for (int peer = 0; peer < rank_ && !is_over_; ++peer) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const auto [theirs, size] = address_of(id, peer);
    while (!is_over_ && ::connect(socket, reinterpret_cast<const sockaddr*>(&theirs), size) != 0)
      sleep_briefly();
    (void)::send(socket, &rank_, sizeof rank_, MSG_NOSIGNAL);
    peers_[static_cast<std::size_t>(peer)] = socket;
  }
  for (int come = rank_ + 1; come < ranks_ && !is_over_;) {
    pollfd ready{listening, POLLIN, 0};
    if (::poll(&ready, 1, 10) <= 0) continue;
    const int socket = ::accept(listening, nullptr, nullptr);
    int peer = 0;
    if (::recv(socket, &peer, sizeof peer, MSG_WAITALL) != sizeof peer) continue;
    peers_[static_cast<std::size_t>(peer)] = socket;
    ++come;
  }
  ::close(listening);
  is_joined_ = !is_over_;
}

void HostLink::post(std::vector<dttrain_message> messages) {
  threads_.emplace_back([this,
                         before = std::move(threads_.back()),
                         all = std::move(messages),
                         number = ++posts_]() mutable {
    before.join();
    if (!is_over_ && !is_wrong_) carry(all, number);
  });
  threads_.erase(threads_.end() - 2);
}

void HostLink::carry(const std::vector<dttrain_message>& messages, std::uint64_t number) {
  if (is_injected("hang", number)) return hang();
  if (is_injected("error", number)) return fail("the device is gone, as the test wants it");
  if (is_injected("leave", number)) {
    for (const int socket : peers_)
      if (socket >= 0) ::shutdown(socket, SHUT_RDWR);
    return hang();
  }
  std::map<std::pair<int, bool>, std::vector<Left>> queues;  // by peer and direction, in order
  for (const dttrain_message& one : messages)
    queues[{one.peer, one.is_sent != 0}].push_back({static_cast<std::byte*>(one.at), one.bytes});
  auto& from = queues[{rank_, true}];  // messages to itself
  auto& to = queues[{rank_, false}];
  for (std::size_t i = 0; i < from.size(); ++i) std::memcpy(to[i].at, from[i].at, from[i].bytes);
  from.clear();
  to.clear();
  for (bool is_done = false; !is_done && !is_over_;) {
    is_done = true;
    for (auto& [key, queue] : queues) {
      for (; !queue.empty(); queue.erase(queue.begin())) {
        const int socket = peers_[static_cast<std::size_t>(key.first)];
        if (!move(socket, queue.front(), key.second))
          return fail("rank " + std::to_string(key.first) + " is gone");
        if (queue.front().bytes > 0) break;
      }
      is_done = is_done && queue.empty();
    }
    if (!is_done) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (!is_over_) ended_ = number;
}

void HostLink::wait() {
  while (ended_ < posts_ && !is_wrong_ && !is_over_) sleep_briefly();
}

std::string HostLink::progress(dttrain_progress& now) {
  now.is_idle = is_joined_ ? 1 : 0;
  now.ended = ended_;
  return is_wrong_ ? wrong_ : "";
}

void HostLink::abort() {
  is_over_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (int& socket : peers_)
    if (socket >= 0) ::close(std::exchange(socket, -1));
}

}  // namespace host_device
