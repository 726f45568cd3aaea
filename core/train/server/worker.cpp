// SPDX-License-Identifier: Apache-2.0
#include "core/train/server/worker.hpp"

#include "core/train/device/kernels.hpp"

#include <algorithm>
#include <utility>

namespace dts::train {

Worker::Worker(Group& all, Group node, const Roles& roles, const Layout& layout, bool sealed)
    : all_(all),
      node_(std::move(node)),
      roles_(roles),
      layout_(layout),
      sealed_(sealed),
      worker_(roles.worker_of(all.rank()).value_or(0)),
      nodes_(maximal_nodes(roles.shards(), roles.shards_of(worker_))) {
  if (!is_first()) return;
  tail_ = Buffer(layout.tail_floats());
  for (const int server : roles.servers())
    channels_.push_back({all.with(server), roles.slice_of(server), {}});
  const std::vector<int>& ranks = roles.workers()[worker_];
  for (std::size_t place = 1; place < ranks.size(); ++place)
    for (const Span one : maximal_nodes(roles.shards(), roles.shards_of_rank(ranks[place])))
      theirs_.theirs.push_back({static_cast<int>(place), 0, one, layout.sum_floats()});
}

void Worker::exchange(std::uint64_t step, const Partials& mine, float* weights) {
  has_weights_ = step + 1 < sync_;
  node_.set_patience(k_answer_patience);
  Answer answer;
  if (is_first()) {
    add_up(collect(mine));
    post(step, weights);
    finish();
    answer = channels_.front().answer;
  } else {
    pass_on(mine);
  }
  if (node_.size() > 1) {
    node_.set_patience(k_node_patience);
    node_.broadcast(&answer, sizeof answer);
    if (has_weights_) node_.broadcast(weights, layout_.parameter_floats * sizeof(float));
  }
  sync_ = answer.sync;
}

// Lends the sums to the worker's first rank, which reads them in place until it has the weights.
void Worker::pass_on(const Partials& mine) {
  const std::size_t bytes = layout_.sum_floats() * sizeof(float);
  std::vector<Group::Outgoing> out;
  for (const auto& [node, sums] : mine) out.push_back({0, sums, bytes});
  node_.wait(node_.post_partials({0}, bytes, out, theirs_));
}

// The sums of all ranks of the worker.
ConstPartials Worker::collect(const Partials& mine) {
  ConstPartials all(mine.begin(), mine.end());
  if (node_.size() == 1) return all;
  const std::size_t bytes = layout_.sum_floats() * sizeof(float);
  node_.wait(node_.post_partials(node_.others(), bytes, {}, theirs_));
  for (const Group::Scattered::Partial& one : theirs_.theirs)
    all[one.node] = static_cast<const float*>(one.sums);
  return all;
}

const float* Worker::sum_of(Span node, const ConstPartials& all, Buffer& room) const {
  if (const auto found = all.find(node); found != all.end()) return found->second;
  if (room.size() == 0) room = Buffer::shared(layout_.sum_floats());
  combine_to(room.data(), node, all, layout_.sum_floats());
  return room.data();
}

void Worker::add_up(const ConstPartials& all) {
  const std::size_t floats = layout_.sum_floats();
  const float* sum = sum_of(nodes_.front(), all, sums_);
  if (sums_.size() == 0 && nodes_.size() > 1) sums_ = Buffer::shared(floats);
  for (std::size_t i = 1; i < nodes_.size(); ++i) {
    add(sums_.data(), sum, sum_of(nodes_[i], all, next_), floats);
    sum = sums_.data();
  }
  std::copy_n(sum + layout_.parameter_floats, tail_.size(), tail_.data());
  gradients_ = sum;
  const auto scalar = [&](Scalar which) -> float& {
    return tail_.data()[layout_.scalar(which) - layout_.parameter_floats];
  };
  const double share = roles_.share_of(worker_);
  const double squares = sum_squares(gradients_, layout_.parameter_floats);
  scalar(Scalar::squares) = static_cast<float>(squares / (share * share));
  for (const auto& [sign, which] : k_signs)
    if ((signs_ & sign) != 0) scalar(which) += 1;
}

void Worker::post(std::uint64_t step, float* weights) {
  for (Channel& channel : channels_) {
    Group& group = channel.group;
    const std::size_t bytes = channel.slice.bytes();
    const float* const gradients = gradients_ + channel.slice.begin;
    channel.push = {step, has_weights_ ? 0U : 1U, seal_of(gradients, channel.slice.size())};
    group.post_send(channel.peer(), &channel.push, sizeof channel.push);
    group.post_send(channel.peer(), gradients, bytes);
    if (&channel == channels_.data())
      group.post_send(channel.peer(), tail_.data(), tail_.size() * sizeof(float));
    channel.answered = group.post_receive(channel.peer(), &channel.answer, sizeof channel.answer);
    channel.ticket = channel.answered;
    if (!has_weights_) continue;
    group.post_receive(channel.peer(), weights + channel.slice.begin, bytes);
    channel.ticket = group.post_receive(channel.peer(), &channel.checksum, sizeof channel.checksum);
  }
}

std::uint64_t Worker::seal_of(const float* floats, std::size_t count) const {
  return sealed_ ? checksum(floats, count) : 0;
}

std::optional<int> Worker::changed(const float* weights) const {
  for (std::size_t server = 0; has_weights_ && server < channels_.size(); ++server) {
    const Channel& channel = channels_[server];
    if (seal_of(weights + channel.slice.begin, channel.slice.size()) != channel.checksum)
      return roles_.servers()[server];
  }
  return std::nullopt;
}

// The ranks of the node get their sums back before the weights are passed on.
void Worker::finish() {
  signs_ = 0;
  for (Channel& channel : channels_) {
    channel.group.set_patience(k_answer_patience);
    channel.group.wait(channel.answered);
    signs_ |= channel.answer.signs;
  }
  for (Channel& channel : channels_) {
    channel.group.set_patience(k_weights_patience);
    channel.group.wait(channel.ticket);
  }
  node_.give_back(theirs_);
}

}  // namespace dts::train
