// SPDX-License-Identifier: Apache-2.0
// Asynchronous training, with servers and workers on threads: one worker computes the bits of
// synchronous steps; with several, the bound holds, every gradient is applied once, and all ranks
// come to synchronisations.
#include "core/base/hash.hpp"
#include "core/train/device/kernels.hpp"
#include "core/train/optim/part_of_step.hpp"
#include "core/train/server/parameter_server.hpp"
#include "core/train/server/received_signs.hpp"
#include "core/train/server/step_tails.hpp"
#include "core/train/server/worker.hpp"
#include "tests/unit/train/rank_threads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace dts::train;
using std::chrono::milliseconds;

namespace {

constexpr int k_async_shards = 6;
constexpr std::size_t k_most_ranks = 8;
constexpr double k_async_lr = 0.25;

const Layout& small_layout() {
  static const Layout made = [] {
    Layout layout;
    layout.add_parameter({.name = "a.weight", .shape = {80, 64}});
    layout.add_parameter({.name = "a.bias", .shape = {80}});
    return layout;
  }();
  return made;
}

// What happened in one training; shared by all threads.
struct Seen {
  std::array<std::atomic<std::uint64_t>, k_most_ranks> begun{};    // number of steps by rank
  std::array<std::atomic<std::uint64_t>, k_most_ranks> applied{};  // by worker, on the first server
  std::atomic<std::uint64_t> too_far{0};
  std::atomic<std::uint64_t> changed{0};  // messages that arrived changed
  std::atomic<bool> wants_sync{false};
};

struct Training {
  int servers = 1;
  std::vector<int> nodes = {};  // by rank; empty: flat
  std::uint64_t bound = 0;
  std::uint64_t steps = 12;
  std::function<void(int rank, std::uint64_t step)> before_step = [](int, std::uint64_t) {};
};

// The sums of a run of shards: gradients that pull the weights to each shard's own values.
struct Pull {
  std::vector<Buffer> buffers;
  Partials partials;

  Pull(Span run, const float* weights) {
    const Layout& layout = small_layout();
    for (const Span node : maximal_nodes(k_async_shards, run)) {
      Partials leaves;
      for (int shard = node.lo; shard < node.hi; ++shard) {
        Buffer leaf = Buffer::shared(layout.sum_floats());
        for (std::size_t at = 0; at < layout.parameter_floats; ++at)
          leaf.data()[at] =
              (weights[at] - static_cast<float>(at % 97) / static_cast<float>(shard + 3)) /
              k_async_shards;
        leaf.data()[layout.scalar(Scalar::loss)] = 1;
        leaves[{shard, shard + 1}] = leaf.data();
        buffers.push_back(std::move(leaf));
      }
      partials[node] = combine(node, leaves, 0, layout.sum_floats());
    }
  }
};

// A slice of weights and momentum, updated by gradients.
struct Moved {
  Buffer weights = Buffer::shared(small_layout().parameter_floats);
  Buffer momentum = Buffer(small_layout().parameter_floats);

  void move(Range slice, const float* gradients, double share) {
    const float* const moments[] = {momentum.data() + slice.begin};
    float* const next[] = {momentum.data() + slice.begin};
    const PartOfStep part = part_of_step(*find_optimizer("sgd"), {}, share);
    find_optimizer("sgd")->update(part.settings,
                                  {k_async_lr * share, 1},
                                  {gradients,
                                   weights.data() + slice.begin,
                                   weights.data() + slice.begin,
                                   moments,
                                   next,
                                   slice.size()});
  }

  [[nodiscard]] std::string hash() const {
    return dts::to_hex(dts::hash64(weights.data(), weights.size() * sizeof(float)));
  }
};

std::string trained_alone(std::uint64_t steps) {
  Moved state;
  const Range whole{0, small_layout().parameter_floats};
  for (std::uint64_t step = 0; step < steps; ++step) {
    const Pull sums({0, k_async_shards}, state.weights.data());
    state.move(whole, sums.partials.begin()->second, 1);
  }
  return state.hash();
}

// One rank of a training, which runs from one synchronisation to the next.
class AsyncRank {
 public:
  AsyncRank(Group& all, const Training& training, Seen& seen)
      : all_(all),
        training_(training),
        seen_(seen),
        roles_(small_layout(),
               {all.size(), training.servers},
               training.nodes.empty() ? Hierarchy(all.size()) : Hierarchy(training.nodes),
               k_async_shards) {
    for (int rank = 0; rank < all.size(); ++rank) slices_.push_back(roles_.slice_of(rank));
  }

  // Returns "" if all is well; on the first rank, the hash of the weights.
  std::string run() {
    const auto worker = roles_.worker_of(all_.rank());
    Group node = all_.split(worker ? static_cast<int>(*worker) : -1);
    std::uint64_t step = 0;
    if (worker) {
      Worker mine(all_, std::move(node), roles_, small_layout(), true);
      while (step < training_.steps) {
        work(mine, step);
        step = meet(mine.sync());
      }
    } else {
      ParameterServer mine(all_, roles_, small_layout(), {training_.bound, true}, hooks());
      while (step < training_.steps) step = meet(mine.serve(step, training_.steps));
    }
    return all_.rank() == 0 ? state_.hash() : "";
  }

 private:
  [[nodiscard]] Range own() const { return roles_.slice_of(all_.rank()); }

  ParameterServer::Hooks hooks() {
    ParameterServer::Hooks made;
    made.apply = [this](const ParameterServer::Arrival& arrival) {
      if (checksum(arrival.gradients, own().size()) != arrival.checksum) ++seen_.changed;
      state_.move(own(), arrival.gradients, roles_.share_of(arrival.worker));
      if (arrival.tail != nullptr) ++seen_.applied[arrival.worker];
    };
    made.weights = [this] { return state_.weights.data() + own().begin; };
    made.signs = [] { return 0U; };
    if (all_.rank() == 0) made.wants_sync = [this] { return seen_.wants_sync.exchange(false); };
    return made;
  }

  void work(Worker& mine, std::uint64_t step) {
    for (mine.begin(training_.steps); step < mine.sync(); ++step) {
      seen_.begun[static_cast<std::size_t>(all_.rank())] = step + 1;
      for (std::size_t worker = 0; worker < roles_.workers().size(); ++worker)
        if (seen_.applied[worker] + training_.bound < step) ++seen_.too_far;
      training_.before_step(all_.rank(), step);
      const Pull sums(mine.shards(), state_.weights.data());
      mine.exchange(step, sums.partials, state_.weights.data());
      if (mine.changed(state_.weights.data())) ++seen_.changed;
    }
  }

  // Brings all ranks to the same weights and step.
  std::uint64_t meet(std::uint64_t step) {
    all_.wait(all_.post_gather_slices(state_.weights.data(), slices_));
    all_.barrier();  // others may still read this rank's memory
    const auto steps = all_.gather(step);
    CHECK(std::all_of(steps.begin(), steps.end(), [&](auto one) { return one == step; }));
    return step;
  }

  Group& all_;
  const Training& training_;
  Seen& seen_;
  Roles roles_;
  std::vector<Range> slices_;
  Moved state_;
};

std::string trained(int ranks, const Training& training, Seen& seen) {
  const auto ends = on_threads(
      ranks, k_long, [&](Group& group) { return AsyncRank(group, training, seen).run(); });
  CHECK(seen.changed == 0);
  for (int rank = 1; rank < ranks; ++rank) CHECK(ends[static_cast<std::size_t>(rank)].empty());
  return ends.front();
}

}  // namespace

TEST_CASE("servers only serve, and the ranks of a node without servers are one worker") {
  const Roles flat(small_layout(), {5, 2}, Hierarchy(5), 7);
  CHECK(flat.servers() == std::vector<int>{0, 2});
  CHECK(flat.workers() == std::vector<std::vector<int>>{{1}, {3}, {4}});
  CHECK(!flat.worker_of(2));
  CHECK(flat.worker_of(3) == 1);
  CHECK(flat.shards_of_rank(1) == Span{0, 2});
  CHECK(flat.shards_of(2) == Span{4, 7});
  CHECK(flat.share_of(2) == doctest::Approx(3.0 / 7));
  CHECK(flat.slice_of(1).size() == 0);
  CHECK(flat.slice_of(0).end == flat.slice_of(2).begin);
  CHECK(flat.slice_of(2).end == small_layout().parameter_floats);
  // Nodes need not have adjacent ranks, and one of them may have only servers.
  const Roles nodes(small_layout(), {7, 2}, Hierarchy({0, 1, 2, 0, 1, 2, 1}), 10);
  CHECK(nodes.servers() == std::vector<int>{0, 3});
  CHECK(nodes.workers() == std::vector<std::vector<int>>{{1, 4, 6}, {2, 5}});
  CHECK(nodes.shards_of(0) == Span{0, 6});
  CHECK(nodes.shards_of_rank(4) == Span{2, 4});
  CHECK(nodes.shards_of(1) == Span{6, 10});
}

TEST_CASE("no worker begins a step that is more than the bound ahead of the slowest") {
  StaleClocks clocks(2, 2, 10);
  for (int step = 0; step < 3; ++step) {
    CHECK(clocks.may_begin(0));
    clocks.complete(0);
  }
  CHECK_FALSE(clocks.may_begin(0));
  CHECK(clocks.slowest() == 10);
  CHECK(clocks.fastest() == 13);
  clocks.complete(1);
  CHECK(clocks.may_begin(0));
  StaleClocks together(2, 0, 0);
  together.complete(0);
  CHECK_FALSE(together.may_begin(0));
  together.complete(1);
  CHECK(together.may_begin(0));
}

TEST_CASE("the tails of a step are added up once all workers have come") {
  StepTails tails(16, 5);
  const std::vector<float> one(16, 1.0F);
  tails.add(5, one.data(), 0);
  tails.add(6, one.data(), 2);
  tails.add(5, one.data(), 3);
  const StepTails::Step first = tails.take();
  CHECK(first.workers == 2);
  CHECK(first.tail.data()[3] == 2);
  CHECK(first.staleness == 3);
  CHECK(tails.take().most_stale == 2);
}

TEST_CASE("the first server hears of others by what comes with gradients") {
  const Layout& layout = small_layout();
  std::vector<float> tail(layout.tail_floats());
  float& writing = tail[layout.scalar(Scalar::writing) - layout.parameter_floats];
  ReceivedSigns signs(2);
  signs.receive(0, layout, tail.data());
  CHECK_FALSE(signs.all_have_written(0));  // the other one has not reported yet
  writing = 1;
  signs.receive(1, layout, tail.data());
  CHECK_FALSE(signs.all_have_written(0));
  writing = 0;
  signs.receive(1, layout, tail.data());
  CHECK(signs.all_have_written(0));
  CHECK_FALSE(signs.all_have_written(k_writing_sign));
  CHECK_FALSE(signs.is_urgent(k_writing_sign));
  CHECK(signs.is_urgent(k_broken_sign));
  tail[layout.scalar(Scalar::stop) - layout.parameter_floats] = 1;
  signs.receive(0, layout, tail.data());
  CHECK(signs.is_urgent(0));
}

TEST_CASE("the steps of three thirds of a batch move weights and moments as far as one of it") {
  // The result of `steps` steps with a constant gradient: a weight and its first moment.
  const auto end_of = [](const OptimizerRow& row, int parts, int steps) {
    const PartOfStep part = part_of_step(row, {.weight_decay = 0.01}, 1.0 / parts);
    float weight = 3;
    std::array<float, 2> moments{};
    for (std::uint64_t count = 1; count <= static_cast<std::uint64_t>(steps * parts); ++count) {
      const float gradient = 0.5F / static_cast<float>(parts) * part.gradient_scale;
      const float now = weight;
      const std::array<float, 2> before = moments;
      const float* const from[] = {&before[0], &before[1]};
      float* const to[] = {&moments[0], &moments[1]};
      row.update(
          part.settings, {0.01 * part.share, count}, {&gradient, &now, &weight, from, to, 1, true});
    }
    return std::pair(static_cast<double>(3 - weight), static_cast<double>(moments[0]));
  };
  for (const char* const name : {"sgd", "nesterov", "adamw"}) {
    CAPTURE(name);
    const OptimizerRow& row = *find_optimizer(name);
    for (const int steps : {30, 100}) {
      const auto [whole, moment] = end_of(row, 1, steps);
      const auto [thirds, moment_of_thirds] = end_of(row, 3, steps);
      CHECK(thirds == doctest::Approx(whole).epsilon(0.05));
      CHECK(moment_of_thirds == doctest::Approx(moment).epsilon(0.05));
    }
    const PartOfStep whole = part_of_step(row, {.weight_decay = 0.01}, 1);
    CHECK(whole.settings.momentum == OptimizerSettings{}.momentum);
    CHECK(whole.settings.beta2 == OptimizerSettings{}.beta2);
    CHECK(whole.settings.weight_decay == 0.01);
    CHECK(whole.gradient_scale == 1);
  }
}

TEST_CASE("with one worker, of any number of ranks, the bits are those of synchronous steps") {
  const std::string expected = trained_alone(12);
  for (const std::uint64_t bound : {0U, 3U}) {
    CAPTURE(bound);
    Seen seen;
    CHECK(trained(2, {.servers = 1, .bound = bound}, seen) == expected);
    CHECK(trained(3, {.servers = 2, .bound = bound}, seen) == expected);
    CHECK(trained(3, {.servers = 1, .nodes = {0, 1, 1}, .bound = bound}, seen) == expected);
    CHECK(trained(6, {.servers = 2, .nodes = {0, 1, 1, 0, 1, 1}, .bound = bound}, seen) ==
          expected);
  }
}

TEST_CASE("every gradient is applied once, and no worker is further ahead than the bound") {
  for (const std::uint64_t bound : {0U, 2U, 8U}) {
    CAPTURE(bound);
    Seen seen;
    Training training{.servers = 2, .bound = bound, .steps = 30};
    training.before_step = [](int rank, std::uint64_t) {
      if (rank == 1) std::this_thread::sleep_for(milliseconds(1));
    };
    (void)trained(5, training, seen);
    for (std::size_t worker = 0; worker < 3; ++worker) CHECK(seen.applied[worker] == 30);
    CHECK(seen.too_far == 0);
  }
}

TEST_CASE("others go on while a slow worker computes, as far as the bound") {
  for (const std::uint64_t bound : {1U, 5U}) {
    CAPTURE(bound);
    Seen seen;
    Training training{.servers = 1, .bound = bound, .steps = 20};
    std::atomic<bool> went_on{true};
    training.before_step = [&](int rank, std::uint64_t step) {
      if (rank != 2 || step != 4) return;
      // The others reach the last step that they may begin, and no further.
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (seen.begun[1] < 5 + bound || seen.begun[3] < 5 + bound)
        if (std::this_thread::sleep_for(milliseconds(1)); std::chrono::steady_clock::now() > end)
          break;
      std::this_thread::sleep_for(milliseconds(50));
      went_on = seen.begun[1] == 5 + bound && seen.begun[3] == 5 + bound;
    };
    (void)trained(4, training, seen);
    CHECK(went_on);
    CHECK(seen.too_far == 0);
  }
}

TEST_CASE("all ranks come to a synchronisation that the first server asks for at any time") {
  Seen seen;
  Training training{.servers = 2, .bound = 3, .steps = 60};
  training.before_step = [&](int rank, std::uint64_t step) {
    if (rank == 4 && step % 7 == 0) seen.wants_sync = true;
    if (rank == 1) std::this_thread::sleep_for(milliseconds(1));
  };
  (void)trained(5, training, seen);  // checks that all ranks reached the same steps
  for (std::size_t worker = 0; worker < 3; ++worker) CHECK(seen.applied[worker] == 60);
  CHECK(seen.too_far == 0);
}

TEST_CASE("servers name the worker that has gone, not one that waits for it") {
  Seen seen;
  Training training{.servers = 1, .bound = 2, .steps = 20};
  training.before_step = [](int rank, std::uint64_t step) {
    if (rank == 2 && step == 5) throw Lost(dts::Error{dts::Errc::internal, "gone", ""});
  };
  const auto ends = on_threads(
      4, milliseconds(400), [&](Group& group) { return AsyncRank(group, training, seen).run(); });
  CHECK(ends[0].find("timed out") == 0);
  CHECK(ends[0].find("rank 2 did not arrive within 0.4 s") != std::string::npos);
}
