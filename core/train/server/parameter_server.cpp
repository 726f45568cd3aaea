// SPDX-License-Identifier: Apache-2.0
#include "core/train/server/parameter_server.hpp"

#include "core/train/device/kernels.hpp"

#include <algorithm>
#include <utility>

namespace dts::train {

ParameterServer::ParameterServer(
    Group& all, const Roles& roles, const Layout& layout, Settings settings, Hooks hooks)
    : settings_(settings),
      hooks_(std::move(hooks)),
      clocks_(static_cast<int>(roles.workers().size()), settings.bound, 0) {
  const bool is_first = roles.servers().front() == all.rank();
  for (const std::vector<int>& ranks : roles.workers()) {
    Channel& made = channels_.emplace_back(Channel{.group = all.with(ranks.front())});
    made.slice = Buffer::shared(roles.slice_of(all.rank()).size());
    made.tail = Buffer(is_first ? layout.tail_floats() : 0);
  }
}

std::uint64_t ParameterServer::serve(std::uint64_t begin, std::uint64_t sync) {
  const std::size_t count = channels_.size();
  sync_ = sync;
  clocks_ = StaleClocks(static_cast<int>(count), settings_.bound, begin);
  for (Channel& channel : channels_) {
    channel.version = version_;
    receive(channel);
  }
  const auto is_over = [](const Channel& one) { return one.next == Next::nothing; };
  while (!std::all_of(channels_.begin(), channels_.end(), is_over)) {
    bool moved = false;
    for (std::size_t worker = 0; worker < count; ++worker) moved = advance(worker) || moved;
    if (!moved) wait_any();
  }
  for (Channel& channel : channels_) channel.group.wait(channel.ticket);
  return clocks_.slowest();
}

// Returns true if something happened, after which other channels may be able to advance.
bool ParameterServer::advance(std::size_t worker) {
  Channel& channel = channels_[worker];
  switch (channel.next) {
    case Next::gradient:
      if (!channel.group.test(channel.ticket)) return false;
      take(worker);
      return true;
    case Next::bound:
      if (!clocks_.may_begin(worker)) return false;
      send_weights(channel);
      return true;
    case Next::weights:
      if (!channel.group.test(channel.ticket)) return false;
      receive(channel);
      return true;
    case Next::nothing:
      break;
  }
  return false;
}

void ParameterServer::receive(Channel& channel) {
  channel.group.post_receive(channel.peer(), &channel.push, sizeof channel.push);
  channel.ticket = channel.group.post_receive(
      channel.peer(), channel.slice.data(), channel.slice.size() * sizeof(float));
  if (channel.tail.size() > 0)
    channel.ticket = channel.group.post_receive(
        channel.peer(), channel.tail.data(), channel.tail.size() * sizeof(float));
  channel.next = Next::gradient;
}

// A new synchronisation must be at least two steps after the fastest worker's latest one: that
// worker learns of it with its next answer, which precedes its last gradient.
void ParameterServer::take(std::size_t worker) {
  Channel& channel = channels_[worker];
  clocks_.complete(worker);
  hooks_.apply({worker,
                channel.push.step,
                channel.slice.data(),
                channel.push.checksum,
                channel.tail.size() > 0 ? channel.tail.data() : nullptr,
                version_ - channel.version});
  ++version_;
  if (hooks_.wants_sync()) sync_ = std::min(sync_, clocks_.fastest() + 2);
  channel.answer = {sync_, hooks_.signs()};
  channel.ticket = channel.group.post_send(channel.peer(), &channel.answer, sizeof channel.answer);
  channel.next = channel.push.awaits != 0 ? Next::nothing : Next::bound;
}

// Sends a copy, because the next gradient may change the weights before they have left.
void ParameterServer::send_weights(Channel& channel) {
  std::copy_n(hooks_.weights(), channel.slice.size(), channel.slice.data());
  channel.version = version_;
  channel.checksum = settings_.sealed ? checksum(channel.slice.data(), channel.slice.size()) : 0;
  channel.group.post_send(
      channel.peer(), channel.slice.data(), channel.slice.size() * sizeof(float));
  channel.ticket =
      channel.group.post_send(channel.peer(), &channel.checksum, sizeof channel.checksum);
  channel.next = Next::weights;
}

// The slowest worker is never held back, so at least one channel has a message in flight.
void ParameterServer::wait_any() {
  std::vector<Group*> groups;
  for (Channel& channel : channels_)
    if (channel.next == Next::gradient || channel.next == Next::weights)
      groups.push_back(&channel.group);
  Group::wait_any(groups);
}

}  // namespace dts::train
