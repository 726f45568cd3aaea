// SPDX-License-Identifier: Apache-2.0
#include "core/train/update/sharded_update.hpp"

#include "core/base/hash.hpp"
#include "core/train/device/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace dts::train {
namespace {

std::size_t to_index(int value) {
  return static_cast<std::size_t>(value);
}

Owners owners_of(int ranks, int servers) {
  return {ranks, servers == 0 ? ranks : std::min(servers, ranks)};
}

}  // namespace

ShardedUpdate::ShardedUpdate(Comm& comm, const Layout& layout, Team& team, Settings settings)
    : comm_(comm),
      layout_(layout),
      team_(team),
      settings_(std::move(settings)),
      grid_(layout),
      ownership_(grid_, owners_of(comm.size(), settings_.servers), settings_.bucket_bytes),
      levels_(comm, settings_.node_first ? Hierarchy(comm.nodes()) : Hierarchy(comm.size())),
      own_floats_(ownership_.floats_of(comm.rank())),
      places_(to_index(grid_.count())),
      momentum_(own_floats_ * layout.moments.size()),
      next_momentum_(momentum_.size()),
      next_weights_(settings_.zero == 3 ? Buffer::sparse(layout.parameter_floats)
                                        : Buffer::shared(layout.parameter_floats)),
      records_(to_index(grid_.count())),
      next_records_(records_.size()),
      wrong_(records_.size()) {
  for (int thread = 0; thread < team.size(); ++thread) scaled_.emplace_back(ChunkGrid::k_floats);
  if (settings_.zero == 1)
    exchange_.emplace(
        levels_,
        layout,
        grid_,
        ownership_,
        GradientExchange::Settings{
            settings_.shards, settings_.sealed, settings_.injection, settings_.arrays});
  else
    rounds_.emplace(comm,
                    layout,
                    grid_,
                    ownership_,
                    RoundExchange::Settings{settings_.shards,
                                            settings_.width,
                                            settings_.sealed,
                                            settings_.is_waiting,
                                            settings_.injection,
                                            settings_.arrays});
  for (int rank = 0; rank < comm.size(); ++rank)
    most_chunks_ = std::max(most_chunks_, ownership_.chunks_of(rank));
  std::size_t at = 0;
  for (int bucket = 0; bucket < ownership_.buckets(); ++bucket) {
    const Span chunks = ownership_.owned(comm.rank(), bucket);
    for (int chunk = chunks.lo; chunk < chunks.hi; ++chunk) {
      own_.push_back(chunk);
      places_[to_index(chunk)] = at;
      at += grid_.floats_of({chunk, chunk + 1}).size();
    }
  }
  for (int chunk = 0; settings_.zero < 3 && chunk < grid_.count(); ++chunk)
    if (ownership_.owner(chunk) != comm.rank()) others_.push_back(chunk);
  blocks_.resize(block_bytes() * to_index(comm.size()));
  if (settings_.accelerated == nullptr) return;
  reports_.resize(own_.size());
  const auto& fault = settings_.injection;
  stays_ = comm.size() == 1 && (!fault || fault->what != Injection::Target::gradient);
}

std::size_t ShardedUpdate::block_bytes() const {
  return sizeof(Header) + most_chunks_ * sizeof(Record);
}

void ShardedUpdate::find(Found what, Span chunks, int peer) {
  if (!findings_.empty() && findings_.back().what == what && findings_.back().peer == peer &&
      what != Found::weights)
    return;  // one finding of each kind is enough
  Finding& made = findings_.emplace_back();
  made.what = what;
  made.rank = comm_.rank();
  made.peer = peer;
  made.chunks = chunks;
  made.set_node(settings_.node);
}

void ShardedUpdate::find_damage() {
  for (int chunk = 0; chunk < grid_.count(); ++chunk) {
    const std::uint8_t wrong = std::exchange(wrong_[to_index(chunk)], std::uint8_t{0});
    const Span one{chunk, chunk + 1};
    if ((wrong & k_weights) != 0) find(Found::weights, one, ownership_.owner(chunk));
    if ((wrong & k_momentum) != 0) find(Found::momentum, one, 0);
    if ((wrong & k_gradient) != 0) find(Found::gradient, one, comm_.rank());
  }
}

void ShardedUpdate::check_weights(const State& state, int chunk) {
  const Span one{chunk, chunk + 1};
  check_weights(state.weights.data() + grid_.floats_of(one).begin, one);
}

void ShardedUpdate::check_weights(const float* values, Span chunks) {
  for (int chunk = chunks.lo; settings_.sealed && chunk < chunks.hi; ++chunk) {
    const Span one{chunk, chunk + 1};
    std::uint64_t now = 0;
    grid_.checksums(values, one, &now);
    if (now != records_[to_index(chunk)].weights) wrong_[to_index(chunk)] |= k_weights;
    values += grid_.floats_of(one).size();
  }
}

// The checksum of all moments of a chunk that this rank owns.
std::uint64_t ShardedUpdate::moments_checksum(int chunk, const Buffer& moments) const {
  const Span one{chunk, chunk + 1};
  const std::size_t at = places_[to_index(chunk)];
  std::uint64_t each[k_most_chunk_moments] = {};
  for (std::size_t moment = 0; moment < layout_.moments.size(); ++moment)
    grid_.checksums(moments.data() + moment * own_floats_ + at, one, &each[moment]);
  return checksum_of_all(each);
}

void ShardedUpdate::check_momentum(int chunk) {
  if (moments_checksum(chunk, momentum_) != records_[to_index(chunk)].momentum)
    wrong_[to_index(chunk)] |= k_momentum;
}

void ShardedUpdate::check_owned(const State& state, int chunk) {
  if (!settings_.sealed) return;
  check_weights(state, chunk);
  check_momentum(chunk);
}

const float* ShardedUpdate::reduce(const State& state, const Partials& mine) {
  inject_momentum(state);
  // This rank's own weights are checked in apply(), which reads them anyway.
  if (settings_.sealed && !others_.empty()) {
    check_copies(state);
    find_damage();
  }
  tail_of(mine)[layout_.in_tail(Scalar::damage)] = findings_.empty() ? 0.0F : 1.0F;
  if (stays_) {
    sums_ = {nullptr, tail_of(mine)};
    damaged_ = false;
    return sums_.tail;
  }
  sums_ = rounds_ ? rounds_->sum() : exchange_->sum(mine, state.step);
  const auto& damaged = rounds_ ? rounds_->damaged() : exchange_->damaged();
  for (const auto& [peer, chunks] : damaged)
    if (peer != comm_.rank()) find(Found::message, chunks, peer);
  damaged_ = !damaged.empty();
  return sums_.tail;
}

void ShardedUpdate::inject_momentum(const State& state) {
  const auto& fault = settings_.injection;
  if (!fault || !fault->is_due(Injection::Target::momentum, state.step)) return;
  for (const int chunk : own_) {
    const Range part = grid_.floats_of({chunk, chunk + 1});
    if (!part.has(fault->element)) continue;
    const std::size_t place = places_[to_index(chunk)] + (fault->element - part.begin);
    if (settings_.accelerated != nullptr)
      settings_.accelerated->flip_moment(place);
    else
      flip_bit(momentum_.data()[place]);
  }
}

void ShardedUpdate::record(int chunk,
                           const float* gradients,
                           const float* weights,
                           const Buffer& moments) {
  const Span one{chunk, chunk + 1};
  const std::size_t size = grid_.floats_of(one).size();
  Record made;
  made.squares = gradients == nullptr ? 0 : sum_squares(gradients, size);
  made.weight_squares = sum_squares(weights, size);
  if (settings_.sealed) {
    grid_.checksums(weights, one, &made.weights);
    made.momentum = moments_checksum(chunk, moments);
  }
  next_records_[to_index(chunk)] = made;
}

void ShardedUpdate::record_next(int chunk) {
  record(chunk,
         sums_.gradients + places_[to_index(chunk)],
         next_weights_.data() + grid_.floats_of({chunk, chunk + 1}).begin,
         next_momentum_);
}

ShardedUpdate::Ended ShardedUpdate::apply(double lr, State& state) {
  const UpdateStep step{lr, state.step - state.skipped + 1};
  const float scale = gradient_scale();
  if (settings_.accelerated != nullptr)
    step_on_device(step, scale);
  else
    step_owned(step, scale, state);
  find_damage();
  damaged_ = damaged_ || !findings_.empty();
  exchange_records(next_weights_.data());
  if (damaged_) return Ended::damaged;
  if (first_not_finite()) return Ended::not_finite;
  if (settings_.accelerated != nullptr) settings_.accelerated->keep();
  is_behind_ = gradients_stay();
  std::swap(state.weights, next_weights_);
  std::swap(momentum_, next_momentum_);
  std::swap(records_, next_records_);
  gather_on_device();
  return Ended::well;
}

std::string ShardedUpdate::what_is_not_finite() const {
  const int chunk = first_not_finite().value_or(0);
  const bool gradient = !std::isfinite(next_records_[to_index(chunk)].squares);
  return fmt::format(
      "the {} of {}", gradient ? "sum of the gradients" : "updated weight", grid_.tensor_of(chunk));
}

double ShardedUpdate::gradient_norm() const {
  double sum = 0;
  for (const Record& one : records_) sum += one.squares;
  return std::sqrt(sum);
}

std::optional<int> ShardedUpdate::first_not_finite() const {
  for (std::size_t chunk = 0; chunk < next_records_.size(); ++chunk)
    if (!std::isfinite(next_records_[chunk].squares + next_records_[chunk].weight_squares))
      return static_cast<int>(chunk);
  return std::nullopt;
}

std::uint64_t ShardedUpdate::root(const State& state) const {
  if (!settings_.sealed) return 0;
  std::vector<std::uint64_t> leaves;
  for (const Record& one : records_) leaves.push_back(one.weights);
  for (const Record& one : records_) leaves.push_back(one.momentum);
  leaves.push_back(checksum(state.running.data(), state.running.size()));
  if (state.ballast.size() > 0)
    leaves.push_back(checksum(state.ballast.data(), state.ballast.size()));
  leaves.push_back(state.step);
  leaves.push_back(state.skipped);
  return hash64(leaves.data(), leaves.size() * sizeof(std::uint64_t));
}

bool ShardedUpdate::verify(const State& state) {
  if (!settings_.sealed) return true;
  if (findings_.empty()) {
    check_copies(state);
    if (settings_.accelerated != nullptr)
      check_on_device(state);
    else
      each(own_, [&](int chunk, int /*thread*/) { check_owned(state, chunk); });
    find_damage();
  }
  const std::uint64_t mine = root(state);
  std::vector<std::uint64_t> all(to_index(comm_.size()), mine);
  comm_.post_gather(&mine, all.data(), sizeof mine);
  const std::int64_t found = comm_.sum(static_cast<std::int64_t>(findings_.size()));
  const bool equal = std::all_of(all.begin(), all.end(), [&](auto one) { return one == all[0]; });
  if (equal && found == 0) return true;
  const std::vector<int> odd = odd_ones(all);
  if (!equal && std::find(odd.begin(), odd.end(), comm_.rank()) != odd.end())
    find(Found::statistics, {0, 0}, 0);
  return false;
}

std::vector<Blame> ShardedUpdate::blame() {
  constexpr std::size_t k_most = 8;  // findings per rank
  const auto changed = rounds_ ? rounds_->changed_chunk() : exchange_->changed_chunk();
  if (damaged_ && changed) find(Found::gradient, {*changed, *changed + 1}, comm_.rank());
  std::array<Finding, k_most> mine{};
  std::copy_n(findings_.begin(), std::min(findings_.size(), k_most), mine.begin());
  std::vector<std::array<Finding, k_most>> all(to_index(comm_.size()), mine);
  comm_.post_gather(&mine, all.data(), sizeof mine);
  comm_.barrier();
  std::vector<Finding> findings;
  for (const auto& block : all)
    std::copy_if(block.begin(), block.end(), std::back_inserter(findings), [](const Finding& one) {
      return one.what != Found::none;
    });
  return judge(grid_, levels_.hierarchy(), findings);
}

}  // namespace dts::train
