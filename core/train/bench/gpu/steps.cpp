// SPDX-License-Identifier: Apache-2.0
// One training step, forward to optimiser, on each GPU from the same state again and again.
#include "core/base/hash.hpp"
#include "core/base/random.hpp"
#include "core/train/accelerator/device_sums.hpp"
#include "core/train/bench/gpu/gpu.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/memory/buffer.hpp"
#include "core/train/models/model_table.hpp"
#include "core/train/optim/optimizer.hpp"
#include "core/train/update/chunk_grid.hpp"

#include <algorithm>
#include <new>
#include <thread>

namespace dts::train::bench {
namespace {

using accelerator::DeviceSums;

constexpr int k_step_shards = 2;  // so that sums are added along the tree, too
constexpr int k_micro_batch = 4;
constexpr std::uint64_t k_step_seed = 1;

// Tokens that are the same everywhere, without a data set.
std::vector<std::byte> made_up_tokens(const Model& model) {
  const auto count =
      static_cast<std::size_t>(model.reads.context) * k_step_shards * k_micro_batch + 1;
  const auto known = static_cast<std::uint64_t>(std::min(model.classes, 256));
  std::vector<std::byte> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = static_cast<std::byte>(mix(i) % known);
  return tokens;
}

class RepeatedStep {
 public:
  // Throws DeviceError and std::bad_alloc, as does run(). `model` must outlive it.
  RepeatedStep(const Model& model, DeviceSums& sums)
      : model_(model), sums_(sums), tokens_(made_up_tokens(model)), weights_(floats()) {
    initial_weights(model.layout, k_step_seed, weights_.data());
    Buffer moments(floats() * optimizer().moments.size());  // as in a training's first step
    const ChunkGrid grid(model.layout);
    ChunkUpdate::Owned owned{&optimizer(), {}, floats()};
    for (int chunk = 0; chunk < grid.count(); ++chunk) {
      const Range part = grid.floats_of({chunk, chunk + 1});
      owned.chunks.push_back({part.begin,
                              part.begin,
                              static_cast<std::uint32_t>(part.size()),
                              grid.decays(chunk) ? 1U : 0U});
    }
    reports_.resize(owned.chunks.size());
    sums.update()->begin(std::move(owned), weights_.data(), moments.data());
  }

  [[nodiscard]] static const OptimizerRow& optimizer() { return *find_optimizer("adamw"); }

  // The digest of the state after the step, and of its loss. The state before it stays.
  [[nodiscard]] std::uint64_t run() {
    Samples samples;
    samples.context = model_.reads.context;
    samples.tokens = {tokens_.data(), tokens_.size(), 1};
    samples.count = k_step_shards * k_micro_batch;
    StepInput input{samples, weights_.data(), k_step_seed, 0, k_step_shards * k_micro_batch};
    input.stays = true;
    const Partials parts = sums_.sum(input, {0, k_step_shards});
    const float* const sum = parts.begin()->second;  // of which the tail is here
    sums_.update()->step(update_factors({}, {0.01, 1}), nullptr, reports_);
    const Layout& layout = model_.layout;
    const auto bytes = [](const auto* at, std::size_t count) {
      return std::string_view(reinterpret_cast<const char*>(at), count * sizeof *at);
    };
    const std::uint64_t loss = hash64(bytes(sum + layout.parameter_floats, layout.tail_floats()));
    return mix(loss) ^ hash64(bytes(reports_.data(), reports_.size()));
  }

 private:
  [[nodiscard]] std::size_t floats() const { return model_.layout.parameter_floats; }

  const Model& model_;
  DeviceSums& sums_;
  std::vector<std::byte> tokens_;
  Buffer weights_;
  std::vector<ChunkReport> reports_;
};

Result<Steps> repeats_on(int device, const Model& model, int repeats, Clock::time_point end) {
  DTS_ASSIGN(auto opened, accelerator::open_device("cuda", device));
  accelerator::DeviceSettings settings{k_step_shards, k_step_shards, k_micro_batch};
  settings.precision = Precision::bf16;
  settings.own_floats = model.layout.parameter_floats;
  settings.moments = RepeatedStep::optimizer().moments.size();
  DTS_ASSIGN(const auto sums,
             DeviceSums::create(model, std::move(opened.queue), std::move(settings)));
  RepeatedStep step(model, *sums);
  Steps found;
  std::uint64_t first = 0;
  // On a slow one fewer repeats; but three, with which the odd one out can be told.
  for (; found.repeats < std::min(3, repeats) || (found.repeats < repeats && Clock::now() < end);
       ++found.repeats) {
    const std::uint64_t now = step.run();
    if (found.repeats == 0) first = now;
    if (now != first) found.odd.push_back(found.repeats);
  }
  found.digest = to_hex(first);
  return found;
}

}  // namespace

std::vector<Result<Steps>> repeat_steps(const BenchOptions& options,
                                        const std::vector<int>& devices,
                                        double seconds) {
  const auto model = make_model(options.gpu_model);
  if (!model || !model->suits_devices || model->reads.what != Reads::What::tokens)
    return {devices.size(),
            fail(Errc::usage,
                 model ? options.gpu_model + " is not computed by GPUs" : model.error().message)};
  // What was asked for is done, however long it takes.
  const auto end = options.gpu_steps > 0
                       ? Clock::time_point::max()
                       : Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                            std::chrono::duration<double>(seconds));
  std::vector<Result<Steps>> found(devices.size(), Steps());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < devices.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        found[i] = repeats_on(devices[i], *model, options.gpu_repeats(), end);
      } catch (const std::exception& e) {  // DeviceError, std::bad_alloc
        found[i] = fail(Errc::io, e.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  return found;
}

}  // namespace dts::train::bench
