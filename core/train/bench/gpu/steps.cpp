// SPDX-License-Identifier: Apache-2.0
// One training step, from forward pass to optimiser, repeated from the same state on each GPU.
#include "core/base/hash.hpp"
#include "core/train/accelerator/device_sums.hpp"
#include "core/train/bench/gpu/gpu.hpp"
#include "core/train/bench/gpu/gpu_step.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/models/model_table.hpp"

#include <algorithm>
#include <new>
#include <thread>

namespace dts::train::bench {
namespace {

using accelerator::DeviceSums;

constexpr int k_step_shards = 2;  // so that sums along the tree are included
constexpr int k_micro_batch = 4;

Result<Steps> repeats_on(int device, const Model& model, int repeats, Clock::time_point end) {
  DTS_ASSIGN(auto opened, accelerator::open_device("cuda", device));
  accelerator::DeviceSettings settings{k_step_shards, k_step_shards, k_micro_batch};
  settings.precision = Precision::bf16;
  settings.own_floats = model.layout.parameter_floats;
  settings.moments = GpuStep::optimizer().moments.size();
  accelerator::Queue& queue = *opened.queue;
  DTS_ASSIGN(const auto sums,
             DeviceSums::create(model, std::move(opened.queue), std::move(settings)));
  GpuStep step(model, *sums, k_step_shards, k_micro_batch);
  Steps found;
  std::uint64_t first = 0;
  std::vector<double> rounds;
  // Fewer repeats on a slow GPU, but at least three, so that the odd one can be identified.
  for (; found.repeats < std::min(3, repeats) || (found.repeats < repeats && Clock::now() < end);
       ++found.repeats) {
    std::uint64_t now = 0;
    const double elapsed = queue.seconds_of([&] { now = step.run(); });
    if (found.repeats > 0) rounds.push_back(elapsed);  // the first one chooses algorithms
    if (found.repeats == 0) first = now;
    if (now != first) found.odd.push_back(found.repeats);
  }
  found.digest = to_hex(first);
  if (!rounds.empty())
    found.tokens =
        per_second(k_step_shards * k_micro_batch * model.reads.context, median(std::move(rounds)));
  return found;
}

}  // namespace

std::vector<Result<Steps>> repeat_steps(const BenchOptions& options,
                                        const std::vector<int>& devices,
                                        double seconds) {
  const auto model = make_model(options.gpu_model);
  if (!model || model->reads.what != Reads::What::tokens)
    return {
        devices.size(),
        fail(Errc::usage, model ? options.gpu_model + " reads no tokens" : model.error().message)};
  // An explicit number of steps is done, however long it takes.
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
