// SPDX-License-Identifier: Apache-2.0
// Chooses the device that computes the steps, and makes its backend.
#include "core/base/os/log.hpp"
#include "core/train/accelerator/device_sums.hpp"
#include "core/train/accelerator/open_device.hpp"
#include "core/train/backend/shard_sums.hpp"
#include "core/train/loop/device_places.hpp"
#include "core/train/loop/run.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::train {
namespace {

constexpr const char* k_module = "cuda";

// The index of this rank on its node.
int local_rank(const Comm& comm) {
  const auto begin = comm.nodes().begin();
  return static_cast<int>(
      std::count(begin, begin + comm.rank(), comm.nodes()[static_cast<std::size_t>(comm.rank())]));
}

Result<void> check_keeping(const Options& options) {
  if (options.storage.recomputes && !options.model->has_layers)
    return fail(Errc::usage,
                fmt::format("--recompute block: {} has no blocks of layers, only gpt2 and llama do",
                            options.model->name));
  if (options.storage.offloads && !options.storage.recomputes)
    return fail(Errc::usage,
                "--offload activations: all of them are more than a link can move in a step",
                "add --recompute block, with which only what goes into each block is moved");
  if (options.storage.offloads && options.device == DeviceKind::cpu)
    return fail(Errc::usage,
                "--offload activations: on processors they are in the node's memory already",
                "use it with --device cuda or auto");
  return {};
}

Result<std::unique_ptr<accelerator::OpenedDevice>> open(int local) {
  DTS_ASSIGN(auto opened, accelerator::open_device(k_module, local));
  return std::make_unique<accelerator::OpenedDevice>(std::move(opened));
}

// Adds the option that asked for the device to an error.
Result<void> named(const Result<void>& result) {
  if (result) return {};
  return tl::unexpected<Error>(Error(result.error()).during(fmt::format("--device {}", k_module)));
}

}  // namespace

// Collective.
int Run::open_device() {
  if (const int code = agree_on_error(check_keeping(options_)); code != 0) return code;
  if (options_.device == DeviceKind::cpu) return 0;
  auto opened = open(local_rank(comm_));
  Result<void> mine = opened ? Result<void>{} : Result<void>(tl::unexpected<Error>(opened.error()));
  if (comm_.least(mine ? 1 : 0) == 1) mine = place_devices(**opened);
  if (options_.device == DeviceKind::automatic) {
    const Verdict verdict = comm_.agree(mine ? 0 : exit_code(mine.error().code));
    if (verdict.code != 0) {
      if (verdict.rank == comm_.rank() && !mine)
        tell("dttrain: --device auto took cpu: {}\n", mine.error().message);
      return 0;
    }
  } else if (const int code = agree_on_error(named(mine)); code != 0) {
    return code;
  }
  device_ = std::move(*opened);
  report_.note(fmt::format(
      "device {} of {} ({}): {}\n", device_->number, device_->devices, k_module, device_->text()));
  return 0;
}

// NormKind how many parameters this rank owns: owners get whole chunks.
std::size_t Run::own_floats() const {
  const auto ranks = static_cast<std::size_t>(comm_.size());
  const std::size_t owners =
      options_.servers == 0 ? ranks : std::min<std::size_t>(options_.servers, ranks);
  return owners == 1 ? layout_.parameter_floats
                     : layout_.parameter_floats / owners + ChunkGrid::k_floats;
}

Result<void> Run::make_backend() {
  const int shards = static_cast<int>(options_.shards);
  const int threads = static_cast<int>(options_.threads);
  if (device_ == nullptr) {
    DTS_ASSIGN(backend_,
               ShardSums::create(model_,
                                 shards,
                                 options_.micro_batch(),
                                 threads,
                                 options_.precision,
                                 {options_.storage.recomputes, false}));
    return {};
  }
  accelerator::DeviceSettings settings{shards,
                                       stage_ > 1 ? 1 : (shards - 1) / comm_.size() + 1,
                                       options_.micro_batch(),
                                       threads,
                                       options_.precision,
                                       own_floats(),
                                       options_.staleness ? 0 : layout_.moments.size()};
  settings.storage = options_.storage;
  settings.failed = [this](const std::string& what) {
    print_error(
        Error{Errc::io,
              "the device failed: " + what,
              "look at the node's devices; the training continues from its last checkpoint"},
        comm_.size() > 1 ? comm_.rank() : -1);
    Comm::abandon(exit_code(Errc::io));
  };
  settings.notify = [this](const std::string& line) { report_.note(line + "\n"); };
  DTS_ASSIGN(
      auto made,
      accelerator::DeviceSums::create(model_, std::move(device_->queue), std::move(settings)));
  device_sums_ = made.get();
  backend_ = std::move(made);
  return {};
}

// Collective. The largest number of bytes that any rank's device has allocated.
std::size_t Run::device_memory() {
  const std::vector<std::size_t> all = comm_.gather(backend_->device_bytes());
  return *std::max_element(all.begin(), all.end());
}

}  // namespace dts::train
