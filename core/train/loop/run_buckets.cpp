// SPDX-License-Identifier: Apache-2.0
// How gradients travel: as the options say, or as tuned in the first steps.
#include "core/train/loop/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace dts::train {

// SLURMD_NODENAME first, because the nodes of a private cluster share one host name.
std::string node_name() {
  if (const char* const name = std::getenv("SLURMD_NODENAME")) return name;
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Collective.
BucketScheme Run::first_scheme() {
  if (comm_.size() == 1) return {};
  const std::optional<bool> node_first =
      Hierarchy(comm_.nodes()).is_flat() ? false : options_.node_first;
  if (options_.staleness) return {0, false, node_first.value_or(true)};
  if (options_.tunes_buckets) {
    tuner_.emplace(Tuner::candidates_for(
        layout_.parameter_floats * sizeof(float), options_.overlap, node_first));
    return tuner_->way();
  }
  // With shared memory nothing is sent: another rank reads sums in place, and a backward pass could
  // not hide the time that this takes. And the thread that sends would add up alone what the
  // threads of its rank otherwise add up together at the end.
  constexpr std::uint64_t k_bucket_bytes = 4000000;
  if (stage_ > 1)
    return {options_.bucket_bytes.value_or(k_bucket_bytes),
            options_.overlap.value_or(true),
            node_first.value_or(true)};
  const bool is_useful = !comm_.one_node() && options_.threads == 1;
  const bool overlaps = comm_.least(options_.overlap.value_or(is_useful) ? 1 : 0) == 1;
  return {options_.bucket_bytes.value_or(overlaps ? k_bucket_bytes : 0),
          overlaps,
          node_first.value_or(true)};
}

// In asynchronous trainings servers update weights on the processor.
ChunkUpdate* Run::accelerated() {
  return options_.staleness ? nullptr : backend_->update();
}

void Run::make_update(const BucketScheme& way) {
  update_.reset();  // first, because it is as large as the next one
  // A round has as many shards as all ranks can compute at once.
  const int threads = stage_ > 1 ? comm_.least(backend_->at_once()) : 1;
  update_ =
      std::make_unique<ShardedUpdate>(comm_,
                                      layout_,
                                      backend_->team(),
                                      ShardedUpdate::Settings{static_cast<int>(options_.shards),
                                                              static_cast<int>(options_.servers),
                                                              way.bytes,
                                                              way.node_first,
                                                              options_.verify_every != 0,
                                                              options_.injection,
                                                              node_name(),
                                                              options_.optimizer,
                                                              options_.optimization,
                                                              stage_,
                                                              comm_.size() * threads,
                                                              !way.overlaps,
                                                              accelerated(),
                                                              backend_->exchange()});
  gradient_buckets_ = {};
  if (stage_ == 3) make_window(threads);
  if (stage_ > 1)
    send_in_rounds();
  else if (way.overlaps)
    gradient_buckets_ = {
        update_->exchange().bucket_ranges(),
        [this](const Partials& mine) { update_->exchange().send_bucket(mine, state_.step); },
        [this] { update_->exchange().progress(); }};
}

void Run::make_window(int threads) {
  std::vector<Range> buckets = update_->ownership().bucket_ranges();
  std::reverse(buckets.begin(), buckets.end());
  std::vector<std::size_t> begins;
  for (const Range& one : buckets) begins.push_back(one.begin);
  begins.push_back(layout_.parameter_floats);
  window_.emplace(Window::Settings{begins,
                                   [this](int bucket) { update_->gather_weights(state_, bucket); },
                                   [this, buckets](int bucket) {
                                     update_->drop_weights(
                                         state_, buckets[static_cast<std::size_t>(bucket)]);
                                   },
                                   threads});
}

// This rank's runs of shards, in the order in which it computes them.
std::vector<Span> Run::runs() const {
  const RoundExchange* const rounds = update_->rounds();
  if (rounds == nullptr)
    return {part_of({0, static_cast<int>(options_.shards)}, comm_.size(), comm_.rank())};
  std::vector<Span> all;
  for (int round = 0; round < rounds->rounds(); ++round) all.push_back(rounds->run(round));
  return all;
}

void Run::send_in_rounds() {
  RoundExchange& rounds = *update_->rounds();
  gradient_buckets_ = {
      rounds.bucket_ranges(),
      [this, &rounds](const Partials& mine) { rounds.send_bucket(mine, state_.step); },
      [&rounds] { rounds.progress(); },
      true};
}

// The sums of this rank's shards. With rounds, their gradients have already left.
Partials Run::compute(const StepInput& input) {
  RoundExchange* const rounds = update_->rounds();
  Partials last;
  for (const Span run : runs()) {
    last = backend_->sum(input, run);
    if (rounds != nullptr) rounds->end_round(last, state_.step);
  }
  if (window_) window_->clear();
  return last;
}

// Called after a step that took that many seconds. Other settings mean other owners: what the old
// ones keep is compared with its checksums and handed over, and checksums are made anew.
int Run::tune(double seconds) {
  if (!tuner_ || !tuner_->record_time(seconds)) return 0;
  const bool is_over = tuner_->is_over();
  if (is_over) tuner_->choose(comm_.gather(tuner_->fastest()).front());  // clocks differ
  if (is_over) report_.tuned(state_.step, tuner_->table());
  update_->copy_weights_to_host(state_);
  if (!update_->verify(state_)) return stop_damaged();
  update_->gather_momentum(state_);
  make_update(tuner_->way());
  update_->begin(state_);
  if (is_over) tuner_.reset();
  return 0;
}

}  // namespace dts::train
