// SPDX-License-Identifier: Apache-2.0
// The optimiser's step on a device: each kernel, and the update as a whole, against the processor's
// and against double precision, for tensors with chunks of various lengths.
#include "core/train/accelerator/device_update.hpp"
#include "core/train/device/kernels.hpp"
#include "tests/unit/accelerator/step.hpp"

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

constexpr std::uint32_t k_chunk_floats[] = {1024, 16, 128, 144, 1008, 1024, 32, 512};

// Owned chunks, with gaps for the chunks of other ranks.
struct Owned {
  std::vector<OwnChunk> chunks;
  std::size_t floats = 0;
  std::size_t all = 0;

  explicit Owned(bool has_gaps) {
    for (const std::uint32_t count : k_chunk_floats) {
      if (has_gaps && chunks.size() % 3 == 2) all += 48;
      chunks.push_back({all, floats, count, chunks.size() % 2 == 0 ? 1U : 0U});
      floats += count;
      all += count;
    }
    if (has_gaps) all += 16;
  }
};

// A training of some steps on the processor, as in ShardedUpdate, and the same on a device.
struct Pair {
  const OptimizerRow& row;
  Owned owned;
  OptimizerSettings settings;
  Floats weights;
  Floats moments;
  std::unique_ptr<Queue> queue = new_queue();
  Resident resident;
  DeviceUpdate device;
  std::uint64_t steps = 0;

  Pair(const OptimizerRow& optimizer, bool has_gaps)
      : row(optimizer),
        owned(has_gaps),
        weights(noise(owned.all, 1)),
        moments(row.moments.size() * owned.floats),
        resident{queue->allocate(owned.all), {}, nullptr},
        device(*queue, resident, owned.all, nullptr) {
    settings.weight_decay = 0.05;
    device.begin({&row, owned.chunks, owned.floats}, weights.data(), moments.data());
  }

  [[nodiscard]] UpdateStep step() const { return {0.01, steps + 1}; }

  // Makes a step on the processor, and returns the checksums and squares of each chunk.
  std::vector<ChunkReport> move(const Floats& gradients, float scale) {
    ++steps;
    std::vector<ChunkReport> reports;
    for (const OwnChunk& chunk : owned.chunks) {
      Floats scaled(chunk.count), next(chunk.count), next_moments(row.moments.size() * chunk.count);
      std::vector<const float*> now;
      std::vector<float*> then;
      ChunkReport report;
      report.weights = checksum(&weights[chunk.begin], chunk.count);
      for (std::size_t kind = 0; kind < row.moments.size(); ++kind) {
        now.push_back(&moments[kind * owned.floats + chunk.place]);
        then.push_back(&next_moments[kind * chunk.count]);
        report.moments[kind] = checksum(now.back(), chunk.count);
      }
      for (std::uint32_t i = 0; i < chunk.count; ++i)
        scaled[i] = scale * gradients[chunk.place + i];
      report.gradient_squares = sum_squares(&gradients[chunk.place], chunk.count);
      report.weight_squares = sum_squares(&weights[chunk.begin], chunk.count);
      row.update(settings,
                 {0.01, steps},
                 {scaled.data(),
                  &weights[chunk.begin],
                  next.data(),
                  {now.data(), now.size()},
                  {then.data(), then.size()},
                  chunk.count,
                  chunk.decays != 0});
      report.next_squares = sum_squares(next.data(), chunk.count);
      reports.push_back(report);
      const bool is_direction = row.by_tensor && chunk.decays != 0;
      for (std::uint32_t i = 0; i < chunk.count; ++i)
        weights[chunk.begin + i] =
            is_direction ? weights[chunk.begin + i] - 0.003F * next[i] : next[i];
      for (std::size_t kind = 0; kind < row.moments.size(); ++kind)
        std::copy_n(then[kind], chunk.count, &moments[kind * owned.floats + chunk.place]);
    }
    return reports;
  }

  [[nodiscard]] std::vector<float> rates() const {
    std::vector<float> all;
    for (const OwnChunk& chunk : owned.chunks) all.push_back(chunk.decays != 0 ? 0.003F : 0);
    return all;
  }
};

double off(double value, double expected) {
  return std::abs(value - expected) / std::max(std::abs(expected), 1e-30);
}

Doubles doubles(const Floats& values) {
  return {values.begin(), values.end()};
}

// Checks that what the device keeps has the checksums that the processor computes for it.
void check_checksums(Pair& pair, const std::vector<ChunkReport>& reports) {
  Floats weights(pair.owned.all), moments(pair.moments.size());
  pair.device.weights(weights.data());
  pair.device.moments(moments.data());
  std::vector<ChunkReport> now(reports.size());
  pair.device.look(now);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const OwnChunk& chunk = pair.owned.chunks[i];
    CHECK(reports[i].next_weights == checksum(&weights[chunk.begin], chunk.count));
    CHECK(now[i].weights == reports[i].next_weights);
    for (std::size_t kind = 0; kind < pair.row.moments.size(); ++kind) {
      const float* const at = &moments[kind * pair.owned.floats + chunk.place];
      CHECK(reports[i].next_moments[kind] == checksum(at, chunk.count));
      CHECK(now[i].moments[kind] == reports[i].next_moments[kind]);
    }
  }
}

}  // namespace

TEST_CASE("ten steps of each optimizer on a device are the processor's, and so are checksums") {
  for (const OptimizerRow& row : optimizer_table())
    for (const bool has_gaps : {false, true}) {
      CAPTURE(row.name);
      CAPTURE(has_gaps);
      Pair pair(row, has_gaps);
      std::vector<ChunkReport> reports(pair.owned.chunks.size());
      for (int repeat = 0; repeat < 10; ++repeat) {
        const Floats gradients = noise(pair.owned.floats, 20 + static_cast<std::uint64_t>(repeat));
        UpdateFactors factors = update_factors(pair.settings, pair.step());
        factors.scale = repeat % 2 == 0 ? 1.0F : 0.37F;
        Doubles squares(reports.size());
        if (repeat % 3 == 0) pair.device.squares(gradients.data(), squares);
        pair.device.step(factors, gradients.data(), reports);
        const std::vector<ChunkReport> before = reports;
        if (row.by_tensor) pair.device.move(pair.rates(), reports);
        const std::vector<ChunkReport> expected = pair.move(gradients, factors.scale);
        for (std::size_t i = 0; i < reports.size(); ++i) {
          CHECK(off(before[i].gradient_squares, expected[i].gradient_squares) < 1e-14);
          CHECK(off(before[i].weight_squares, expected[i].weight_squares) < 1e-5);
          CHECK(off(before[i].next_squares, expected[i].next_squares) < 1e-5);
          if (repeat % 3 == 0) CHECK(squares[i] == before[i].gradient_squares);
          if (repeat == 0) {
            CHECK(reports[i].weights == expected[i].weights);
            CHECK(reports[i].moments[0] == expected[i].moments[0]);
          }
        }
        Floats next = pair.weights;  // parts of other ranks are not written
        pair.device.next_weights(next.data());
        CHECK(worst(next, doubles(pair.weights)) < 1e-6);
        pair.device.keep();
      }
      check_checksums(pair, reports);
      Floats moments(pair.moments.size());
      pair.device.moments(moments.data());
      CHECK(worst(moments, doubles(pair.moments)) < 1e-6);
    }
}

TEST_CASE("no order of threads or blocks changes a bit of an update on a device") {
  for (const OptimizerRow& row : optimizer_table()) {
    std::vector<Floats> all;
    for (const auto order : {host_device::Order::descending, host_device::Order::ascending}) {
      host_device::set_order(order);
      Pair pair(row, true);
      std::vector<ChunkReport> reports(pair.owned.chunks.size());
      const Floats gradients = noise(pair.owned.floats, 3);
      pair.device.step(update_factors(pair.settings, pair.step()), gradients.data(), reports);
      if (row.by_tensor) pair.device.move(pair.rates(), reports);
      pair.device.keep();
      Floats state(pair.owned.all);
      pair.device.weights(state.data());
      state.resize(pair.owned.all + pair.moments.size());
      pair.device.moments(&state[pair.owned.all]);
      for (const ChunkReport& report : reports)
        state.push_back(static_cast<float>(report.next_squares));
      all.push_back(state);
    }
    CHECK(all[0] == all[1]);
  }
}

TEST_CASE("a step that is not kept leaves no trace, and a flipped bit is seen") {
  Pair pair(*find_optimizer("adamw"), true);
  std::vector<ChunkReport> first(pair.owned.chunks.size());
  std::vector<ChunkReport> again = first;
  const Floats gradients = noise(pair.owned.floats, 4);
  const UpdateFactors factors = update_factors(pair.settings, pair.step());
  pair.device.step(factors, gradients.data(), first);
  pair.device.step(factors, gradients.data(), again);
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].weights == again[i].weights);
    CHECK(first[i].next_weights == again[i].next_weights);
    CHECK(first[i].next_moments[1] == again[i].next_moments[1]);
  }
  // Flips bits in the last chunk with an odd length, and in the second moment of the first chunk.
  const OwnChunk& odd = pair.owned.chunks[4];
  pair.device.flip_weight(odd.place + 1007);
  pair.device.flip_moment(pair.owned.floats + 5);
  pair.device.look(again);
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK((first[i].weights == again[i].weights) == (i != 4));
    CHECK((first[i].moments[1] == again[i].moments[1]) == (i != 0));
    CHECK(first[i].moments[0] == again[i].moments[0]);
  }
}

TEST_CASE("a rate of 0 leaves weights as they are") {
  Pair pair(*find_optimizer("lamb"), true);
  std::vector<ChunkReport> reports(pair.owned.chunks.size());
  const Floats gradients = noise(pair.owned.floats, 7);
  pair.device.step(update_factors(pair.settings, {0, 1}), gradients.data(), reports);
  pair.device.move(std::vector<float>(reports.size()), reports);
  Floats next(pair.owned.all);
  pair.device.next_weights(next.data());
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const OwnChunk& chunk = pair.owned.chunks[i];
    CHECK(std::equal(
        &next[chunk.begin], &next[chunk.begin] + chunk.count, &pair.weights[chunk.begin]));
    CHECK(reports[i].next_weights == reports[i].weights);
  }
}

TEST_CASE("gradients that have stayed on the device are those of the step") {
  Pair pair(*find_optimizer("nesterov"), false);
  std::vector<ChunkReport> sent(pair.owned.chunks.size());
  std::vector<ChunkReport> stayed = sent;
  const Floats gradients = noise(pair.owned.floats, 5);
  const UpdateFactors factors = update_factors(pair.settings, pair.step());
  pair.device.step(factors, gradients.data(), sent);
  float* const there = pair.queue->allocate(gradients.size());
  pair.queue->to_device(there, gradients.data(), gradients.size());
  pair.resident.gradients = there;
  pair.device.step(factors, nullptr, stayed);
  for (std::size_t i = 0; i < sent.size(); ++i)
    CHECK(sent[i].next_weights == stayed[i].next_weights);
  // If all parameters are owned, they are swapped instead of copied.
  const float* const before = pair.resident.weights;
  pair.device.keep();
  CHECK(pair.resident.weights != before);
}

TEST_CASE("another division of the parameters is taken over") {
  Pair pair(*find_optimizer("adamw"), true);
  Owned other(true);
  other.chunks.erase(other.chunks.begin() + 2, other.chunks.end());
  other.floats = k_chunk_floats[0] + k_chunk_floats[1];
  const Floats moments = noise(2 * other.floats, 6);
  pair.device.begin({&pair.row, other.chunks, other.floats}, pair.weights.data(), moments.data());
  Floats got(moments.size());
  pair.device.moments(got.data());
  CHECK(got == moments);
  CHECK(pair.resident.own.size() == 1);
}

TEST_CASE("gradients that stay are those that would come, and owned weights are the device's own") {
  Step step;
  step.input.with_squares = true;
  const Layout& layout = step.model.layout;
  const auto device = step.device();
  const Floats expected = step.whole(device->sum(step.input, {0, k_shards}));
  ChunkUpdate::Owned owned{find_optimizer("sgd"), {}, layout.parameter_floats};
  for (std::size_t at = 0; at < layout.parameter_floats; at += 1024)
    owned.chunks.push_back(
        {at,
         at,
         static_cast<std::uint32_t>(std::min<std::size_t>(1024, layout.parameter_floats - at)),
         0});
  const Floats moments(layout.parameter_floats);
  device->update()->begin(owned, step.weights.data(), moments.data());
  const Floats nothing = poisoned(layout.parameter_floats);
  step.input.weights = nothing.data();
  step.input.gradients_stay = true;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Partials partials = device->sum(step.input, {0, k_shards});
    CHECK(std::equal(expected.begin() + static_cast<std::ptrdiff_t>(layout.parameter_floats),
                     expected.end(),
                     partials.begin()->second + layout.parameter_floats));
    Doubles squares(owned.chunks.size());
    device->update()->squares(nullptr, squares);
    for (std::size_t i = 0; i < squares.size(); ++i)
      CHECK(squares[i] ==
            doctest::Approx(sum_squares(&expected[owned.chunks[i].begin], owned.chunks[i].count))
                .epsilon(1e-12));
  }
}
