// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/runner/rank_connections.hpp"

#include "core/base/files/files.hpp"
#include "core/base/net/interfaces.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/utf8.hpp"
#include "core/launch/job/successor.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds k_hello_limit{10};          // a peer that sends nothing is dropped
constexpr std::size_t k_most_strangers = 64;               // connections without a valid hello
constexpr std::size_t k_most_held = std::size_t{1} << 20;  // bytes of their incomplete lines
constexpr unsigned k_most_refusals_logged = 100;
constexpr unsigned k_own_files = 128;

// The text may quote bytes from an unknown peer.
bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// We need one connection per rank, and the limit that a job inherits from a login shell is often
// 1,024.
void allow_open_files(rlim_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return;
  limit.rlim_cur = std::min(count, limit.rlim_max);
  if (limit.rlim_cur < count)
    log("only {} files may be open here: not every rank can be served", limit.rlim_cur);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Result<void> RankConnections::open() {
  allow_open_files(settings_.plan.world_size + settings_.plan.nodes + k_most_strangers +
                   k_own_files);
  DTS_ASSIGN(listener_, listen_on(0));
  ready_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!ready_.valid()) return fail_errno("cannot wait for ranks");
  ChannelFile channel;
  channel.token = settings_.token;
  channel.node = settings_.agent_node;
  channel.port = local_port(listener_.get());
  for (HostAddress& one : interface_addresses())
    channel.addresses.push_back(std::move(one.address));
  channel.addresses.push_back(host_name());
  channel.preflight = settings_.spec.preflight.count() > 0;
  channel.check_gpus = settings_.plan.gpus_per_node > 0;
  if (std::string folder = folder_here(); is_utf8(folder)) channel.folder = std::move(folder);
  return write_file(settings_.folder() + "/channel.json",
                    to_text(channel),
                    0600,
                    Durability::deferred);  // useless after a power failure
}

void RankConnections::serve() {
  std::array<epoll_event, 512> events{};
  std::vector<int> gone;
  const int count = ::epoll_wait(ready_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events.at(static_cast<std::size_t>(i));
    const auto peer = peers_.find(event.data.fd);
    if (peer == peers_.end()) continue;  // dropped a moment ago
    if ((event.events & EPOLLOUT) != 0) {
      if (!peer->second.line.flush()) {
        gone.push_back(peer->first);
        continue;
      }
      listen_to(peer->first, peer->second.line.wants_to_write());
    }
    if ((event.events & ~EPOLLOUT) != 0 && !read(event.data.fd)) gone.push_back(event.data.fd);
    limit_unidentified_bytes();
  }
  for (const int peer : gone) drop(peer);
}

void RankConnections::listen_to(int peer, bool and_write) {
  epoll_event event{};
  event.events = and_write ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.fd = peer;
  if (::epoll_ctl(ready_.get(), EPOLL_CTL_MOD, peer, &event) != 0 && errno == ENOENT)
    ::epoll_ctl(ready_.get(), EPOLL_CTL_ADD, peer, &event);
}

// Accepts all pending connections: thousands of ranks connect at the same moment. If too many have
// not identified themselves, the oldest are dropped first, because a rank sends its hello at once.
void RankConnections::accept() {
  for (unsigned i = 0; i < SOMAXCONN; ++i) {
    UniqueFd fd = accept_from(listener_.get());
    if (!fd.valid()) return;
    const int peer = fd.get();
    strangers_.push_back(peer);
    std::string reached_at = local_address(peer);
    peers_.emplace(peer,
                   Connection{LineConnection(std::move(fd), k_longest_first_line),
                              std::move(reached_at),
                              Clock::now(),
                              0});
    listen_to(peer, false);
    if (strangers_.size() > k_most_strangers + settings_.plan.world_size) drop(strangers_.front());
  }
}

bool RankConnections::read(int peer) {
  Connection& connection = peers_.at(peer);
  const bool alive = connection.line.receive();
  while (const auto line = connection.line.next_line()) {
    auto message = parse_from_rank(*line);
    if (!message) {
      log_refusal(peer, message.error().message);
      return false;
    }
    if (!take(peer, connection, *std::move(message))) return false;
  }
  hold(connection, connection.is_known ? 0 : connection.line.held());
  return alive;
}

bool RankConnections::take(int peer, Connection& connection, FromRank message) {
  if (const auto* notice = std::get_if<Notice>(&message)) {
    if (notice->token == settings_.token) on_notice_(*notice);
    return false;
  }
  if (const auto* verify = std::get_if<Verify>(&message)) {
    if (verify->token == settings_.token) attempt_.on_verify();
    return false;
  }
  if (const auto* attached = std::get_if<Attached>(&message)) {
    if (attached->token != settings_.token) return false;
    welcome(peer, connection);
    return true;
  }
  if (const auto* hello = std::get_if<Hello>(&message);
      hello != nullptr && hello->token == settings_.token)
    welcome(peer, connection);
  attempt_.on_message(peer, std::move(message), connection.reached_at, Clock::now());
  for (const int refused : attempt_.take_refused()) {
    log_refusal(refused, "not a rank of this attempt");
    if (refused == peer) return false;
    drop(refused);
  }
  return true;
}

void RankConnections::welcome(int peer, Connection& connection) {
  std::erase(strangers_, peer);
  connection.line.set_limit(k_longest_line);
  connection.is_known = true;
}

void RankConnections::hold(Connection& connection, std::size_t bytes) {
  held_ += bytes - connection.held;
  connection.held = bytes;
}

// A hello arrives in one piece and is read at once, so a peer that has sent half a line for a while
// is not a rank. The oldest is dropped first.
void RankConnections::limit_unidentified_bytes() {
  while (held_ > k_most_held)
    drop(*std::find_if(strangers_.begin(), strangers_.end(), [this](int peer) {
      return peers_.at(peer).held > 0;
    }));
}

// Limits the number of lines, because a stranger must not fill the disk either.
void RankConnections::log_refusal(int peer, const std::string& why) {
  if (++refusals_ > k_most_refusals_logged) return;
  log("turned away a connection from {}: {}{}",
      peer_address(peer),
      is_plain(why) ? why : "its line is not text",
      refusals_ == k_most_refusals_logged ? "; further ones are not logged" : "");
}

void RankConnections::drop(int peer) {
  attempt_.on_lost(peer, Clock::now());
  if (const auto found = peers_.find(peer); found != peers_.end()) hold(found->second, 0);
  std::erase(strangers_, peer);
  peers_.erase(peer);
}

void RankConnections::drop_silent(Time now) {
  std::vector<int> silent;
  for (const int peer : strangers_)
    if (now - peers_.at(peer).since > k_hello_limit) silent.push_back(peer);
  for (const int peer : silent) drop(peer);
}

void RankConnections::deliver() {
  for (const auto& [peer, message] : attempt_.take_messages()) {
    const auto connection = peers_.find(peer);
    if (connection == peers_.end()) continue;
    connection->second.line.send(to_line(message));
    if (connection->second.line.wants_to_write()) listen_to(peer, true);
  }
}

}  // namespace dts::launch
