// SPDX-License-Identifier: Apache-2.0
// What computes the steps, and who has it.
#include "core/base/hash.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/number_list.hpp"
#include "core/train/accelerator/device_sums.hpp"
#include "core/train/accelerator/open_device.hpp"
#include "core/train/backend/shard_sums.hpp"
#include "core/train/loop/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dts::train {
namespace {

constexpr const char* k_module = "cuda";

// This rank's number on its node.
int local_rank(const Comm& comm) {
  const auto begin = comm.nodes().begin();
  return static_cast<int>(
      std::count(begin, begin + comm.rank(), comm.nodes()[static_cast<std::size_t>(comm.rank())]));
}

Result<void> check_device(const Options& options) {
  if (!options.model->suits_devices)
    return fail(Errc::usage,
                fmt::format("{} is not computed by devices yet, only gpt2 and llama are",
                            options.model->name),
                "use --device cpu, or --model gpt2:SIZE or llama:SIZE");
  return {};
}

Result<std::unique_ptr<accelerator::OpenedDevice>> open(const Options& options, int local) {
  DTS_TRY(check_device(options));
  DTS_ASSIGN(auto opened, accelerator::open_device(k_module, local));
  return std::make_unique<accelerator::OpenedDevice>(std::move(opened));
}

// Who asked for it.
Result<void> named(const Result<void>& result) {
  if (result) return {};
  return tl::unexpected<Error>(Error(result.error()).during(fmt::format("--device {}", k_module)));
}

}  // namespace

// Collective.
int Run::open_device() {
  if (options_.device == DeviceKind::cpu) return 0;
  auto opened = open(options_, local_rank(comm_));
  const Result<void> mine =
      opened ? Result<void>{} : Result<void>(tl::unexpected<Error>(opened.error()));
  if (options_.device == DeviceKind::automatic) {
    const Verdict verdict = comm_.agree(mine ? 0 : exit_code(mine.error().code));
    if (verdict.code != 0) {
      if (verdict.rank == comm_.rank() && !mine)
        tell("dttrain: --device auto took cpu: {}\n", mine.error().message);
      return 0;
    }
  } else if (const int code = settle(named(mine)); code != 0) {
    return code;
  }
  device_ = std::move(*opened);
  report_.note(fmt::format(
      "device {} of {} ({}): {}\n", device_->number, device_->devices, k_module, device_->text()));
  look_for_sharing();
  return 0;
}

// Collective. Several ranks may share a device, but rarely on purpose.
void Run::look_for_sharing() {
  const std::vector<std::uint64_t> all = comm_.gather(hash64(device_->facts.uuid));
  std::map<std::uint64_t, std::vector<unsigned>> ranks;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    ranks[all[rank]].push_back(static_cast<unsigned>(rank));
  for (const auto& [uuid, sharing] : ranks)
    if (sharing.size() > 1 && comm_.rank() == 0)
      tell("dttrain: warning: ranks {} share one device; one rank for each is faster\n",
           fold_numbers(sharing));
}

Result<void> Run::make_backend() {
  const int shards = static_cast<int>(options_.shards);
  const int threads = static_cast<int>(options_.threads);
  if (device_ == nullptr) {
    DTS_ASSIGN(
        backend_,
        ShardSums::create(model_, shards, options_.micro_batch(), threads, options_.precision));
    return {};
  }
  accelerator::DeviceSettings settings{shards,
                                       stage_ > 1 ? 1 : (shards - 1) / comm_.size() + 1,
                                       options_.micro_batch(),
                                       threads,
                                       options_.precision};
  settings.failed = [this](const std::string& what) {
    print_error(
        Error{Errc::io,
              "the device failed: " + what,
              "look at the node's devices; the training continues from its last checkpoint"},
        comm_.size() > 1 ? comm_.rank() : -1);
    Comm::abandon(exit_code(Errc::io));
  };
  DTS_ASSIGN(
      backend_,
      accelerator::DeviceSums::create(model_, std::move(device_->queue), std::move(settings)));
  return {};
}

}  // namespace dts::train
