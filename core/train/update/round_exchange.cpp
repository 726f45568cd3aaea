// SPDX-License-Identifier: Apache-2.0
#include "core/train/update/round_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace dts::train {
namespace {

std::size_t as_index(int value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

RoundExchange::RoundExchange(Group& comm,
                             const Layout& layout,
                             const ChunkGrid& grid,
                             const Ownership& ownership,
                             Settings settings)
    : comm_(comm),
      layout_(layout),
      grid_(grid),
      ownership_(ownership),
      settings_(settings),
      host_(grid),
      arrays_(settings.arrays != nullptr ? *settings.arrays : host_),
      begins_(ownership.begins_of(comm.rank())),
      first_(as_index(comm.size())) {
  std::size_t most = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    int nodes = 0;
    for (int round = 0; round < rounds(); ++round) {
      first_[as_index(rank)].push_back(nodes);
      nodes += static_cast<int>(nodes_of(round, rank).size());
    }
    most = std::max(most, as_index(nodes));
    if (rank == comm.rank()) tails_.resize(as_index(nodes) * layout.tail_floats());
  }
  seals_.emplace(comm.size(), most * begins_.size(), most * layout_.tail_floats() * sizeof(float));
}

int RoundExchange::rounds() const {
  return (settings_.shards + settings_.width - 1) / settings_.width;
}

Span RoundExchange::shards_of(int round) const {
  const int begin = round * settings_.width;
  return {begin, std::min(begin + settings_.width, settings_.shards)};
}

Span RoundExchange::run_of(int round, int rank) const {
  return part_of(shards_of(round), comm_.size(), rank);
}

std::vector<Span> RoundExchange::nodes_of(int round, int rank) const {
  return maximal_nodes(settings_.shards, run_of(round, rank));
}

std::vector<Span> RoundExchange::all_nodes_of(int rank) const {
  std::vector<Span> all;
  for (int round = 0; round < rounds(); ++round)
    for (const Span node : nodes_of(round, rank)) all.push_back(node);
  return all;
}

bool RoundExchange::is_injected(Injection::Target what, std::uint64_t step) const {
  const auto& fault = settings_.injection;
  return fault && fault->is_due(what, step) && fault->rank == comm_.rank();
}

float* RoundExchange::take() {
  if (unused_.empty()) {
    Room& made = rooms_.emplace_back();
    arrays_.grow(made, ownership_.floats_of(comm_.rank()));
    return made.data();
  }
  float* const taken = unused_.back();
  unused_.pop_back();
  return taken;
}

// Decides which nodes exist after this round, and in which arrays.
void RoundExchange::begin_round() {
  if (round_ == 0) {
    for (const auto& [node, array] : held_) unused_.push_back(array);
    held_.clear();
    damaged_.clear();
    changed_.reset();
    has_injected_ = false;
  }
  next_.clear();
  for (const Span node : maximal_nodes(settings_.shards, {0, shards_of(round_).hi})) {
    if (held_.count(node) > 0) continue;
    const auto part = std::find_if(
        held_.begin(), held_.end(), [&](const auto& one) { return one.first.lo == node.lo; });
    next_[node] = part != held_.end() ? part->second : take();
  }
}

void RoundExchange::seal(int bucket) {
  if (!settings_.sealed) return;
  const Span chunks = ownership_.bucket(bucket);
  const std::size_t begin = grid_.floats_of(chunks).begin;
  auto& sealed = in_flight(bucket).sealed;
  sealed.assign(mine_.size(), std::vector<std::uint64_t>(as_index(chunks.size())));
  int node = first_[as_index(comm_.rank())][as_index(round_)];
  for (auto sums = sealed.begin(); const auto& [of, partial] : mine_) {
    arrays_.checksums(partial + begin, chunks, sums->data());
    for (int peer = 0; peer < comm_.size(); ++peer) {
      const Span theirs = ownership_.owned(peer, bucket);
      seals_->sent(peer, place_of(node, bucket)) =
          seal_of(sums->data() + (theirs.lo - chunks.lo), theirs);
    }
    ++sums;
    ++node;
  }
}

void RoundExchange::post(int bucket, std::uint64_t step) {
  const Range floats = grid_.floats_of(ownership_.bucket(bucket));
  if (is_injected(Injection::Target::gradient, step) && round_ == 0) {
    const std::size_t element = settings_.injection->element;
    if (floats.has(element)) arrays_.flip(mine_.begin()->second + element);
  }
  const std::vector<Range> slices = ownership_.slices(bucket);
  std::vector<Group::Outgoing> out;
  for (const int peer : comm_.others())
    for (const auto& [node, sums] : mine_) {
      const Range theirs = slices[as_index(peer)];
      out.push_back({peer, sums + theirs.begin, theirs.bytes()});
    }
  const std::size_t width = slices[as_index(comm_.rank())].size();
  const auto theirs = as_index(shards_of(round_).size()) * width;  // an upper bound
  InFlight& now = in_flight(bucket);
  arrays_.grow(now.room, theirs);
  std::vector<Group::Incoming> in;
  float* to = now.room.data();
  for (int peer = 0; peer < comm_.size(); ++peer)
    for (std::size_t left = peer == comm_.rank() ? 0 : nodes_of(round_, peer).size(); left > 0;
         --left)
      in.push_back({peer, std::exchange(to, to + width), width * sizeof(float)});
  now.ticket =
      arrays_.post_slices(comm_, Call::scatter_partials, comm_.others(), floats.bytes(), out, in);
}

void RoundExchange::send_bucket(const Partials& mine, std::uint64_t step) {
  if (left_ == 0) begin_round();
  mine_ = arrays_.gradients(mine);
  const int bucket = ownership_.buckets() - ++left_;
  seal(bucket);
  post(bucket, step);
  const int before = std::exchange(travels_, settings_.waits ? -1 : bucket);
  if (before >= 0) fold(before, step);
  if (settings_.waits) fold(bucket, step);
}

// The partials of a bucket after they have arrived, as far as this rank owns it.
ConstPartials RoundExchange::arrived(int bucket, std::uint64_t step) {
  const Span chunks = ownership_.owned(comm_.rank(), bucket);
  const Range own = grid_.floats_of(chunks);
  const std::size_t width = own.size();
  ConstPartials all;
  std::vector<std::uint64_t> now(as_index(chunks.size()));
  const float* at = in_flight(bucket).room.data();
  for (int peer = 0; peer < comm_.size(); ++peer) {
    int place = first_[as_index(peer)][as_index(round_)];
    for (const Span node : nodes_of(round_, peer)) {
      const bool is_own = peer == comm_.rank();
      const float* sums = is_own ? mine_.at(node) + own.begin : std::exchange(at, at + width);
      if (!is_own && width > 0 && !has_injected_ && is_injected(Injection::Target::message, step)) {
        has_injected_ = true;
        sums = arrays_.flipped(sums, width, settings_.injection->element % width);
      }
      if (settings_.sealed) {
        arrays_.checksums(sums, chunks, now.data());
        seals_->found(peer, place_of(place++, bucket)) = seal_of(now.data(), chunks);
      }
      all[node] = sums;
    }
  }
  return all;
}

// Checks that what was sent is still as computed, before its memory is reused.
void RoundExchange::verify_sent(int bucket) {
  if (!settings_.sealed || changed_) return;
  const Span chunks = ownership_.bucket(bucket);
  std::vector<std::uint64_t> now(as_index(chunks.size()));
  for (auto was = in_flight(bucket).sealed.begin(); const auto& [node, partial] : mine_) {
    arrays_.checksums(partial + grid_.floats_of(chunks).begin, chunks, now.data());
    const auto changed = std::mismatch(now.begin(), now.end(), (was++)->begin()).first;
    if (changed != now.end()) changed_ = chunks.lo + static_cast<int>(changed - now.begin());
  }
}

// Waits for a bucket and adds the part that this rank owns.
void RoundExchange::fold(int bucket, std::uint64_t step) {
  arrays_.wait(comm_, in_flight(bucket).ticket);
  const std::size_t begin = begins_[as_index(bucket)];
  const Range own = grid_.floats_of(ownership_.owned(comm_.rank(), bucket));
  ConstPartials all = arrived(bucket, step);
  for (const auto& [node, array] : held_) all[node] = array + begin;
  for (const auto& [node, array] : next_) arrays_.sum(array + begin, node, all, own.size());
  verify_sent(bucket);
}

void RoundExchange::end_round(const Partials& mine, std::uint64_t step) {
  if (travels_ >= 0) fold(std::exchange(travels_, -1), step);
  float* tail = tails_.data() +
                as_index(first_[as_index(comm_.rank())][as_index(round_)]) * layout_.tail_floats();
  for (const auto& [node, partial] : mine)
    tail = std::copy_n(partial + layout_.parameter_floats, layout_.tail_floats(), tail);
  Partials now = next_;
  for (const auto& [node, array] : held_) {
    const bool is_part = std::any_of(next_.begin(), next_.end(), [&, of = node](const auto& one) {
      return one.first.lo <= of.lo && of.hi <= one.first.hi;
    });
    if (!is_part)
      now[node] = array;
    else if (std::none_of(next_.begin(), next_.end(), [&, is = array](const auto& one) {
               return one.second == is;
             }))
      unused_.push_back(array);
  }
  held_ = std::move(now);
  left_ = 0;
  ++round_;
}

// Compares the checksums of what was sent with those of what has arrived.
void RoundExchange::compare() {
  for (int peer = 0; peer < comm_.size(); ++peer)
    if (const auto which = seals_->changed(peer))
      damaged_.push_back(
          {peer, ownership_.owned(comm_.rank(), static_cast<int>(*which % begins_.size()))});
}

RoundExchange::Sums RoundExchange::sum() {
  const Span shards{0, settings_.shards};
  round_ = 0;
  for (int peer = 0; peer < comm_.size(); ++peer)
    std::copy(tails_.begin(), tails_.end(), static_cast<float*>(seals_->more_to(peer)));
  comm_.wait(seals_->post(comm_));
  if (settings_.sealed) compare();
  Partials tails;
  for (int peer = 0; peer < comm_.size(); ++peer) {
    auto* tail = static_cast<float*>(seals_->more_from(peer));
    for (const Span node : all_nodes_of(peer)) {
      tails[node] = tail;
      tail += layout_.tail_floats();
    }
  }
  return {held_.at(shards), combine(shards, tails, 0, layout_.tail_floats())};
}

}  // namespace dts::train
