// SPDX-License-Identifier: Apache-2.0
// Posts calls, compares them between ranks, waits for them, and reports those that do not arrive.
#include "core/train/comm/group.hpp"

#include "core/base/hash.hpp"
#include "core/base/text/number_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace dts::train {
namespace {

std::uint32_t key_of(const std::vector<int>& members) {
  return static_cast<std::uint32_t>(hash64(members.data(), members.size() * sizeof(int)));
}

// "rank 3", "ranks 1,4-7"
std::string ranks_text(std::vector<unsigned> ranks) {
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return (ranks.size() == 1 ? "rank " : "ranks ") + fold_numbers(ranks);
}

}  // namespace

Group::Group(std::shared_ptr<Transport> transport,
             std::vector<int> members,
             int rank,
             std::shared_ptr<Settings> settings)
    : transport_(std::move(transport)),
      members_(std::move(members)),
      rank_(rank),
      settings_(std::move(settings)),
      record_(key_of(members_)),
      sent_(members_.size()),
      received_messages_(members_.size()) {}

Group::Posted& Group::begin(const CallHeader& mine, std::vector<int> peers) {
  Posted& call = posted_.emplace_back();
  call.mine = mine;
  call.peers = std::move(peers);
  call.ticket = ++tickets_;
  return call;
}

std::vector<int> Group::others() const {
  std::vector<int> all;
  for (int step = 1; step < size(); ++step) all.push_back((rank_ + step) % size());
  return all;
}

Group::Posted& Group::begin(Call what, std::uint64_t bytes) {
  return begin(what, bytes, others());
}

Group::Posted& Group::begin(Call what, std::uint64_t bytes, std::vector<int> peers) {
  Posted& call = begin(record_.add(what, bytes), std::move(peers));
  call.theirs.resize(call.peers.size());
  for (std::size_t i = 0; i < call.peers.size(); ++i) {
    const int peer = call.peers[i];
    call.headers.push_back(
        {peer, transport_->receive(member(peer), &call.theirs[i], sizeof call.mine)});
    send(call, peer, &call.mine, sizeof call.mine);
  }
  return call;
}

void Group::send(Posted& call, int to, const void* data, std::size_t bytes, bool lends) {
  if (bytes > 0) call.content.push_back({to, transport_->send(member(to), data, bytes), lends});
}

void Group::receive(Posted& call, int from, void* data, std::size_t bytes) {
  if (bytes > 0) call.content.push_back({from, transport_->receive(member(from), data, bytes)});
}

Group::Ticket Group::post_send(int to, const void* data, std::size_t bytes) {
  Posted& call = begin(record_.add_message(++sent_[static_cast<std::size_t>(to)], bytes), {to});
  send(call, to, &call.mine, sizeof call.mine);
  send(call, to, data, bytes);
  return call.ticket;
}

Group::Ticket Group::post_receive(int from, void* data, std::size_t bytes) {
  Posted& call = begin(
      record_.add_message(++received_messages_[static_cast<std::size_t>(from)], bytes), {from});
  call.theirs.resize(1);
  call.headers.push_back(
      {from, transport_->receive(member(from), call.theirs.data(), sizeof call.mine)});
  receive(call, from, data, bytes);
  return call.ticket;
}

void Group::wait(Ticket ticket) {
  while (!posted_.empty() && posted_.front().ticket <= ticket) {
    complete(posted_.front());
    posted_.pop_front();
  }
}

bool Group::test(Ticket ticket) {
  transport_->progress();
  while (!posted_.empty() && posted_.front().ticket <= ticket) {
    if (!is_complete(posted_.front())) return false;
    complete(posted_.front());
    posted_.pop_front();
  }
  return true;
}

void Group::wait_any(const std::vector<Group*>& groups) {
  const Transport::Deadline begin = Transport::Clock::now();
  Group* first = groups.front();  // the group whose deadline is first
  for (Group* const one : groups) {
    std::optional<Transport::Deadline>& deadline = one->posted_.front().deadline;
    if (!deadline) deadline = begin + one->limit();
    if (*deadline < *first->posted_.front().deadline) first = one;
  }
  const auto ready = [&] {
    return std::any_of(groups.begin(), groups.end(), [](const Group* one) {
      return one->is_complete(one->posted_.front());
    });
  };
  Posted& call = first->posted_.front();
  const auto comes = [&](Transport::Deadline& until) {
    return first->transport_->wait_ready(ready, until);
  };
  if (!first->completes_in_time(comes, *call.deadline)) first->lose(call);
  first->report_wait(call, begin);
}

// True if this rank has nothing left to do for `part`.
bool Group::is_over(const Part& part) const {
  return transport_->done(part.ticket) || (part.lends && transport_->on_loan(part.ticket));
}

bool Group::is_complete(const Posted& call) const {
  const auto done = [this](const Part& part) { return is_over(part); };
  return std::all_of(call.headers.begin(), call.headers.end(), done) &&
         std::all_of(call.content.begin(), call.content.end(), done);
}

std::chrono::milliseconds Group::limit() const {
  return std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(
      static_cast<double>(settings_->timeout.count()) * patience_));
}

bool Group::arrives(const Part& part, Transport::Deadline& deadline) const {
  return completes_in_time(
      [&](Transport::Deadline& until) {
        return part.lends ? transport_->wait_sent(part.ticket, until)
                          : transport_->wait(part.ticket, until);
      },
      deadline);
}

// Returns false if the deadline passes first. Time in which other ranks had no core moves the
// deadline. That is measured only from half of the time on, because looking at other processes
// costs more than most waits last.
template <class Comes>
bool Group::completes_in_time(const Comes& comes, Transport::Deadline& deadline) const {
  constexpr int k_most = 10;  // times the timeout
  if (!settings_->starved) return comes(deadline);
  const Transport::Clock::duration half = settings_->timeout / 2;
  Transport::Deadline middle = deadline - half;
  const bool soon = comes(middle);
  deadline = middle + half;
  if (soon) return true;
  (void)settings_->starved();
  for (const Transport::Deadline last = deadline + k_most * settings_->timeout;;) {
    if (comes(deadline)) return true;
    const std::chrono::nanoseconds waited = settings_->starved();
    if (waited < settings_->timeout / 100 || deadline > last) return false;
    deadline += waited;
  }
}

// Waits until it is certain that all peers make the same call.
void Group::meet(const Posted& call, Transport::Deadline& deadline) {
  for (std::size_t i = 0; i < call.headers.size(); ++i) {
    if (!arrives(call.headers[i], deadline)) return lose(call);
    compare(call, i);
  }
}

CallHeader Group::announce(Call call, std::vector<int> peers, std::uint64_t total) {
  const Transport::Deadline begun = Transport::Clock::now();
  Transport::Deadline deadline = begun + limit();
  const Posted& posted = begin(call, total, std::move(peers));
  meet(posted, deadline);
  report_wait(posted, begun);
  return posted.mine;
}

void Group::await(const CallHeader& call,
                  const Poll& look,
                  std::optional<std::chrono::milliseconds> within) const {
  constexpr Transport::Clock::duration k_nap = std::chrono::microseconds(50);  // nothing wakes it
  const auto comes = [&](Transport::Deadline& until) {
    return wait_until(until, Transport::Clock::duration{}, look, [&](Transport::Clock::duration) {
      std::this_thread::sleep_for(k_nap);
    });
  };
  const std::chrono::milliseconds time = within.value_or(limit());
  Transport::Deadline deadline = Transport::Clock::now() + time;
  if (completes_in_time(comes, deadline)) return;
  end(Errc::timed_out,
      fmt::format("{}: all ranks have arrived, but it did not complete within {} s",
                  to_string(call),
                  static_cast<double>(time.count()) / 1000));
}

void Group::break_off(const CallHeader& call, const std::string& why) const {
  end(Errc::io, fmt::format("{}: {}", to_string(call), why));
}

void Group::complete(const Posted& call) {
  const Transport::Deadline begin = Transport::Clock::now();
  Transport::Deadline deadline = begin + limit();
  meet(call, deadline);
  for (const Part& part : call.content)
    if (!arrives(part, deadline)) return lose(call);
  check_transport(call);
  report_wait(call, begin);
}

void Group::report_wait(const Posted& call, Transport::Deadline begin) const {
  if (settings_->waited && !call.peers.empty())
    settings_->waited(call.mine.call, begin, Transport::Clock::now());
}

void Group::check_transport(const Posted& call) const {
  if (transport_->broken()) end(Errc::io, to_string(call.mine) + ": a message was lost");
}

void Group::compare(const Posted& call, std::size_t peer) const {
  const CallHeader& theirs = call.theirs[peer];
  if (theirs == call.mine || theirs.call == Call::none) return;  // none: lost
  const int rank = member(call.peers[peer]);
  CallHeader same = theirs;
  same.hash = call.mine.hash;
  if (same == call.mine)
    end(Errc::internal,
        fmt::format("{}: before it, rank {} has made other calls", to_string(call.mine), rank));
  end(Errc::internal,
      fmt::format("{}: rank {} makes {}", to_string(call.mine), rank, to_string(theirs)));
}

void Group::lose(const Posted& call) const {
  std::vector<unsigned> absent, slow;
  for (std::size_t i = 0; i < call.headers.size(); ++i) {
    if (transport_->done(call.headers[i].ticket))
      compare(call, i);
    else
      absent.push_back(static_cast<unsigned>(member(call.headers[i].peer)));
  }
  for (const Part& part : call.content)
    if (!is_over(part)) slow.push_back(static_cast<unsigned>(member(part.peer)));
  std::sort(absent.begin(), absent.end());
  std::sort(slow.begin(), slow.end());
  const std::string who = absent.empty() ? ranks_text(slow) + " did not complete it"
                                         : ranks_text(absent) + " did not arrive";
  end(Errc::timed_out,
      fmt::format("{}: {} within {} s",
                  to_string(call.mine),
                  who,
                  static_cast<double>(limit().count()) / 1000));
}

void Group::end(Errc code, const std::string& message) const {
  if (settings_->ending) settings_->ending();
  settings_->lost(Error{code, message, "calls of this rank: " + record_.newest()});
  std::abort();
}

}  // namespace dts::train
