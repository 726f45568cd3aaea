// SPDX-License-Identifier: Apache-2.0
// Which rank has which device, how devices are linked, and their health during the training.
#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"
#include "core/train/accelerator/open_device.hpp"
#include "core/train/bench/cpus.hpp"
#include "core/train/bench/gpu/gpu.hpp"
#include "core/train/loop/device_places.hpp"
#include "core/train/loop/run.hpp"

#include <algorithm>
#include <cstdlib>

namespace dts::train {
namespace {

constexpr std::uint64_t k_devices_every = 50;  // steps
// nvmlClocksThrottleReason*: throttled because of heat or power, that is, not by anybody's choice.
constexpr std::uint64_t k_faults = 0x08 | 0x20 | 0x40 | 0x80;

std::uint64_t numas_of_cores() {
  std::uint64_t all = 0;
  for (const bench::NumaCores& node : bench::by_numa(bench::own_cores()))
    if (node.numa >= 0 && node.numa < 64) all |= std::uint64_t{1} << node.numa;
  return all;
}

}  // namespace

// 0 if the device could not be measured; the training does not depend on it.
double Run::measured_peak(int device) const {
  const auto module = accelerator::load_device_module("cuda");
  if (!module) return 0;
  const dttrain_factors factors = options_.precision == Precision::bf16   ? DTTRAIN_BF16
                                  : options_.precision == Precision::tf32 ? DTTRAIN_TF32
                                                                          : DTTRAIN_FP32;
  return bench::product_peak(*module, device, factors).value_or(0);
}

// Collective. Each rank must have a device of its own, unless they may share; the result is the
// same on all.
Result<void> Run::place_devices(const accelerator::OpenedDevice& mine) {
  DevicePlace place{{}, mine.facts, numas_of_cores(), measured_peak(mine.number)};
  const std::string node = node_name();
  node.copy(place.node.data(), place.node.size() - 1);
  const std::vector<DevicePlace> all = comm_.gather(place);
  look_at_devices(all);
  Result<void> checked = check_one_each(all);
  shares_device_ = !checked;
  if (comm_.least(options_.shares_device ? 1 : 0) == 0) return checked;
  if (!checked && comm_.rank() == 0)
    tell("dttrain: warning: {}; one rank for each is faster\n", checked.error().message);
  return {};
}

// Collective. Reports what is known about the links of devices, and warns about odd ones.
void Run::look_at_devices(const std::vector<DevicePlace>& all) {
  const auto rank = static_cast<std::size_t>(comm_.rank());
  monitor_.emplace(all[rank].facts.pci);
  DeviceLinks mine;
  std::size_t known = 0;
  for (std::size_t other = 0; other < all.size() && known < mine.links.size(); ++other)
    if (other != rank && all[other].node == all[rank].node)
      mine.links[known++] = {static_cast<int>(other), monitor_->link_to(all[other].facts.pci)};
  const std::vector<DeviceLinks> links = comm_.gather(mine);
  devices_ = devices_json(all, links, options_.precision);
  peaks_ = peaks_of(all, options_.precision);
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  for (const std::string& what : misplaced(rank, all[rank], visible == nullptr ? "" : visible))
    tell("dttrain: warning: {}\n", what);
  if (rank != 0) return;
  for (const std::string& what : odd_links(all, links)) tell("dttrain: warning: {}\n", what);
}

// The first rank's, since all compute the same shapes; evaluations come later than steps.
void Run::report_slow_products() {
  if (comm_.rank() != 0) return;
  const int shapes = device_sums_->queue().facts().slow_products;
  if (shapes > std::max(slow_products_, 0))
    tell(
        "dttrain: warning: cuBLASLt has no algorithm for {} of the shapes of products; kernels of "
        "dttrain compute {}, more slowly\n",
        shapes,
        shapes == 1 ? "it" : "them");
  slow_products_ = shapes;
}

// Collective, unless the training is asynchronous, because ranks are at different steps then.
void Run::report_devices() {
  if (!monitor_ || device_ == nullptr) return;
  const std::uint64_t done = state_.step;
  const bool is_regular = done % k_devices_every == 0 || done == schedule_.total;
  if (slow_products_ < 0 || is_regular) report_slow_products();
  if (options_.staleness || (!is_regular && done != 1)) return;
  const GpuHealth mine = monitor_->read();
  const std::uint64_t now =
      mine.throttling < 0 ? 0 : static_cast<std::uint64_t>(mine.throttling) & k_faults;
  if ((now & ~throttled_) != 0)
    tell(
        "dttrain: warning: the GPU of rank {} (node {}) is slowed down: {}; see its cooling and "
        "power\n",
        comm_.rank(),
        node_name(),
        join(throttle_words(now), ", "));
  throttled_ |= now;
  const std::vector<GpuHealth> all = comm_.gather(mine);
  if (comm_.rank() == 0) report_.devices(done, healths_json(all));
}

}  // namespace dts::train
