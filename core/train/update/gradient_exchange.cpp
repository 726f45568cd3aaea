// SPDX-License-Identifier: Apache-2.0
#include "core/train/update/gradient_exchange.hpp"

#include "core/base/hash.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace dts::train {

GradientExchange::GradientExchange(Group& comm,
                                   const Layout& layout,
                                   const ChunkGrid& grid,
                                   const Ownership& ownership,
                                   Settings settings)
    : comm_(comm),
      layout_(layout),
      grid_(grid),
      ownership_(ownership),
      settings_(settings),
      begins_(ownership.begins_of(comm.rank())),
      scattered_(static_cast<std::size_t>(ownership.buckets())) {
  for (int rank = 0; rank < comm.size(); ++rank)
    most_partials_ = std::max(most_partials_, nodes_of(rank).size());
  sums_bytes_ = most_partials_ * begins_.size() * sizeof(std::uint64_t);
  note_bytes_ = sums_bytes_ + most_partials_ * layout_.tail_floats() * sizeof(float);
  notes_out_.resize(note_bytes_ * static_cast<std::size_t>(comm.size()));
  notes_in_.resize(notes_out_.size());
  found_.resize(notes_out_.size());
  sealed_.assign(nodes_of(comm.rank()).size(),
                 std::vector<std::uint64_t>(static_cast<std::size_t>(grid_.count())));
  if (comm.size() > 1) gradients_ = Buffer(ownership.floats_of(comm.rank()) + 1);
}

std::vector<Span> GradientExchange::nodes_of(int rank) const {
  return maximal_nodes(settings_.shards, part_of({0, settings_.shards}, comm_.size(), rank));
}

bool GradientExchange::is_injected(Injection::What what, std::uint64_t step) const {
  const auto& fault = settings_.injection;
  return fault && fault->is_now(what, step) && fault->rank == comm_.rank();
}

// The checksums of a peer's note: by partial and bucket.
std::uint64_t* GradientExchange::sums_in(std::vector<std::byte>& notes, int peer) {
  return reinterpret_cast<std::uint64_t*>(notes.data() +
                                          note_bytes_ * static_cast<std::size_t>(peer));
}

void GradientExchange::seal(int bucket) {
  if (!settings_.sealed) return;
  const Span chunks = ownership_.bucket(bucket);
  const int first = grid_.floats_of(chunks).lo;
  auto sums = sealed_.begin();
  for (const auto& [node, partial] : mine_)
    grid_.checksums(partial + first, chunks, (sums++)->data() + chunks.lo);
}

void GradientExchange::inject_gradient(Span floats, std::uint64_t step) {
  if (!is_injected(Injection::What::gradient, step)) return;
  const auto element = static_cast<int>(settings_.injection->element);
  if (floats.lo <= element && element < floats.hi) flip_bit(mine_.begin()->second[element]);
}

void GradientExchange::post(int bucket, std::uint64_t step) {
  inject_gradient(grid_.floats_of(ownership_.bucket(bucket)), step);
  (void)comm_.post_scatter(settings_.shards,
                           ownership_.slices(bucket),
                           mine_,
                           scattered_[static_cast<std::size_t>(bucket)]);
}

void GradientExchange::leave(const Partials& mine, std::uint64_t step) {
  mine_ = mine;
  const int bucket = ownership_.buckets() - ++left_;
  seal(bucket);
  post(bucket, step);
}

void GradientExchange::pack() {
  const std::size_t tail_bytes = layout_.tail_floats() * sizeof(float);
  for (int peer = 0; peer < comm_.size(); ++peer) {
    std::uint64_t* sum = sums_in(notes_out_, peer);
    auto* tail = reinterpret_cast<std::byte*>(sum) + sums_bytes_;
    auto sealed = sealed_.begin();
    for (const auto& [node, partial] : mine_) {
      for (int bucket = 0; bucket < ownership_.buckets(); ++bucket) {
        const Span chunks = ownership_.owned(peer, bucket);
        *sum++ = hash64(sealed->data() + chunks.lo,
                        static_cast<std::size_t>(chunks.size()) * sizeof(std::uint64_t));
      }
      ++sealed;
      std::memcpy(tail, partial + layout_.parameter_floats, tail_bytes);
      tail += tail_bytes;
    }
  }
}

Partials GradientExchange::tails() {
  Partials all;
  for (int peer = 0; peer < comm_.size(); ++peer) {
    auto* tail = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(sums_in(notes_in_, peer)) +
                                          sums_bytes_);
    for (const Span node : nodes_of(peer)) {
      all[node] = tail;
      tail += layout_.tail_floats();
    }
  }
  return all;
}

// As if the first partial of another rank had arrived changed.
void GradientExchange::inject_message(ConstPartials& all, std::size_t width, std::uint64_t step) {
  if (has_injected_ || width == 0 || !is_injected(Injection::What::message, step)) return;
  has_injected_ = true;
  const float*& sums = all.at(nodes_of(comm_.rank() == 0 ? 1 : 0).front());
  changed_.assign(sums, sums + width);
  flip_bit(changed_[settings_.injection->element % width]);
  sums = changed_.data();
}

// Waits for a bucket, and adds up what this rank owns of it.
void GradientExchange::receive(int bucket, std::uint64_t step) {
  const auto place = static_cast<std::size_t>(bucket);
  Group::Scattered& scattered = scattered_[place];
  const Span chunks = ownership_.owned(comm_.rank(), bucket);
  const Span floats = grid_.floats_of(chunks);
  const auto width = static_cast<std::size_t>(floats.size());
  comm_.wait(scattered.ticket);
  ConstPartials all = Group::partials(scattered, floats, mine_);
  inject_message(all, width, step);
  std::vector<std::uint64_t> now(static_cast<std::size_t>(chunks.size()));
  for (int peer = 0; settings_.sealed && peer < comm_.size(); ++peer) {
    std::uint64_t* found = sums_in(found_, peer) + place;
    for (const Span node : nodes_of(peer)) {
      grid_.checksums(all.at(node), chunks, now.data());
      *found = hash64(now.data(), now.size() * sizeof(std::uint64_t));
      found += begins_.size();
    }
  }
  combine_to(gradients_.data() + begins_[place], {0, settings_.shards}, all, width);
  comm_.give_back(scattered);
}

// What came with what was sent.
void GradientExchange::compare() {
  for (int peer = 0; peer < comm_.size(); ++peer) {
    const std::uint64_t* const found = sums_in(found_, peer);
    const std::uint64_t* const sent = sums_in(notes_in_, peer);
    const std::size_t count = nodes_of(peer).size() * begins_.size();
    const auto at =
        static_cast<std::size_t>(std::mismatch(found, found + count, sent).first - found);
    if (at < count)
      damaged_.push_back(
          {peer, ownership_.owned(comm_.rank(), static_cast<int>(at % begins_.size()))});
  }
}

GradientExchange::Sums GradientExchange::sum(const Partials& mine, std::uint64_t step) {
  const Span shards{0, settings_.shards};
  const bool have_left = std::exchange(left_, 0) > 0;
  damaged_.clear();
  has_injected_ = false;
  mine_ = mine;
  for (int bucket = 0; !have_left && bucket < ownership_.buckets(); ++bucket) seal(bucket);
  if (comm_.size() == 1) {
    inject_gradient({0, static_cast<int>(layout_.parameter_floats)}, step);
    const float* const sums = mine.at(shards);
    return {sums, sums + layout_.parameter_floats};
  }
  pack();
  const Group::Ticket notes = comm_.post_exchange(notes_out_.data(), notes_in_.data(), note_bytes_);
  for (int bucket = ownership_.buckets() - 1; !have_left && bucket >= 0; --bucket)
    post(bucket, step);
  for (int bucket = ownership_.buckets() - 1; bucket >= 0; --bucket) receive(bucket, step);
  comm_.wait(notes);
  if (settings_.sealed) compare();
  return {gradients_.data(), combine(shards, tails(), 0, layout_.tail_floats())};
}

bool GradientExchange::is_whole(int chunk) const {
  if (comm_.size() > 1 || !settings_.sealed) return true;
  const Span one{chunk, chunk + 1};
  std::uint64_t now = 0;
  grid_.checksums(mine_.begin()->second + grid_.floats_of(one).lo, one, &now);
  return now == sealed_.front()[static_cast<std::size_t>(chunk)];
}

std::optional<int> GradientExchange::changed_chunk() const {
  std::vector<std::uint64_t> now(static_cast<std::size_t>(grid_.count()));
  auto sealed = sealed_.begin();
  for (const auto& [node, partial] : mine_) {
    grid_.checksums(partial, {0, grid_.count()}, now.data());
    const auto [changed, was] = std::mismatch(now.begin(), now.end(), (sealed++)->begin());
    if (changed != now.end()) return static_cast<int>(changed - now.begin());
  }
  return std::nullopt;
}

}  // namespace dts::train
