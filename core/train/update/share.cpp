// SPDX-License-Identifier: Apache-2.0
// ShardedUpdate: exchanges between ranks that own parts of the parameters.
#include "core/train/update/sharded_update.hpp"

#include <algorithm>
#include <cstring>

namespace dts::train {
namespace {

std::size_t place(int value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

void ShardedUpdate::begin(State& state) {
  for (std::size_t moment = 0; moment < layout_.moments.size(); ++moment) {
    float* to = momentum_.data() + moment * own_floats_;
    for (const Range own : ownership_.runs_of(comm_.rank()))
      to = std::copy_n(
          state.momentum.data() + moment * layout_.parameter_floats + own.begin, own.size(), to);
  }
  state.momentum = Buffer();
  begin_on_device(state);
  for (const int chunk : own_)
    record(chunk,
           nullptr,
           state.weights.data() + grid_.floats_of({chunk, chunk + 1}).begin,
           momentum_);
  exchange_records(state.weights.data());
  records_ = next_records_;
  is_behind_ = exchanges_on_device();
  gather_on_device();
}

void ShardedUpdate::add_slices(float* array, std::vector<Levels::Sliced>& to) const {
  for (int bucket = 0; bucket < ownership_.buckets(); ++bucket)
    to.push_back({array, ownership_.slices(bucket)});
}

// Sends this rank's records, and the weights that it owns, to all ranks.
void ShardedUpdate::exchange_records(float* weights) {
  if (comm_.size() == 1) return;
  const Header header{damaged_ ? 1U : 0U};
  const std::size_t bytes = block_bytes();
  const Range blocks{0, place(comm_.size()) * bytes / sizeof(float)};
  std::vector<Record> records(most_chunks_);
  ownership_.pick(comm_.rank(), next_records_.data(), records.data());
  std::byte* const mine = blocks_.data() + bytes * place(comm_.rank());
  std::memcpy(mine, &header, sizeof header);
  std::memcpy(mine + sizeof header, records.data(), most_chunks_ * sizeof(Record));
  std::vector<Levels::Sliced> all{{reinterpret_cast<float*>(blocks_.data()), {}}};
  for (int rank = 0; rank < comm_.size(); ++rank)
    all.front().slices.push_back(blocks.part(comm_.size(), rank));
  if (settings_.zero < 3 && !exchanges_on_device()) add_slices(weights, all);
  levels_.gather(all);
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const std::byte* const at = blocks_.data() + bytes * place(rank);
    Header theirs;
    std::memcpy(&theirs, at, sizeof theirs);
    damaged_ = damaged_ || theirs.damaged != 0;
    std::memcpy(records.data(), at + sizeof theirs, most_chunks_ * sizeof(Record));
    ownership_.put(rank, records.data(), next_records_.data());
  }
}

// Collective: completes an array with a value per chunk, of which each rank knows those of its own
// chunks.
void ShardedUpdate::share(std::vector<double>& by_chunk) {
  if (comm_.size() == 1) return;
  std::vector<double> mine(most_chunks_);
  std::vector<double> all(most_chunks_ * static_cast<std::size_t>(comm_.size()));
  ownership_.pick(comm_.rank(), by_chunk.data(), mine.data());
  comm_.wait(comm_.post_gather(mine.data(), all.data(), mine.size() * sizeof(double)));
  for (int rank = 0; rank < comm_.size(); ++rank)
    ownership_.put(
        rank, all.data() + most_chunks_ * static_cast<std::size_t>(rank), by_chunk.data());
}

void ShardedUpdate::gather_weights(State& state, int bucket) {
  if (exchanges_on_device()) return gather_on_device(bucket);
  levels_.gather({{state.weights.data(), ownership_.slices(bucket)}});
  if (!settings_.sealed) return;
  const Span all = ownership_.bucket(bucket);
  const Span own = ownership_.owned(comm_.rank(), bucket);
  bool is_wrong = false;
  for (int chunk = all.lo; chunk < all.hi; ++chunk) {
    if (own.lo <= chunk && chunk < own.hi) continue;
    check_weights(state, chunk);
    is_wrong = is_wrong || wrong_[place(chunk)] != 0;
  }
  if (is_wrong) find_damage();
}

void ShardedUpdate::drop_weights(State& state, Range range) const {
  for (int bucket = 0; bucket < ownership_.buckets(); ++bucket) {
    const Range all = grid_.floats_of(ownership_.bucket(bucket));
    const Range own = grid_.floats_of(ownership_.owned(comm_.rank(), bucket));
    for (const Range part : {Range{all.begin, own.begin}, Range{own.end, all.end}})
      state.weights.drop(part.common(range));
  }
}

void ShardedUpdate::gather_weights(State& state) {
  for (int bucket = 0; settings_.zero == 3 && bucket < ownership_.buckets(); ++bucket)
    gather_weights(state, bucket);
}

void ShardedUpdate::drop_weights(State& state) const {
  if (settings_.zero == 3) drop_weights(state, {0, layout_.parameter_floats});
}

void ShardedUpdate::gather_momentum(State& state) {
  copy_moments_to_host();
  state.momentum = Buffer(layout_.moment_floats());
  for (std::size_t moment = 0; moment < layout_.moments.size(); ++moment) {
    float* const whole = state.momentum.data() + moment * layout_.parameter_floats;
    for (const int chunk : own_) {
      const Range part = grid_.floats_of({chunk, chunk + 1});
      std::copy_n(momentum_.data() + moment * own_floats_ + places_[place(chunk)],
                  part.size(),
                  whole + part.begin);
    }
    std::vector<Levels::Sliced> all;
    add_slices(whole, all);
    levels_.gather(all);
  }
}

}  // namespace dts::train
