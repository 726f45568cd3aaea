// SPDX-License-Identifier: Apache-2.0
// The backend for a device: computes a rank's shards one after another and adds them up on the
// device, along the tree. In each step the weights that the rank does not own are copied from host
// memory and the sums are copied back, unless a single rank owns everything.
#pragma once

#include "core/base/result.hpp"
#include "core/train/accelerator/device_network.hpp"
#include "core/train/accelerator/device_update.hpp"
#include "core/train/accelerator/exchange/device_exchange.hpp"
#include "core/train/accelerator/weight_uploads.hpp"
#include "core/train/backend/backend.hpp"
#include "core/train/memory/buffer.hpp"

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dts::train::accelerator {

struct DeviceSettings {
  int shards = 1;
  int own_shards = 1;  // the most shards of one sum()
  int micro_batch = 1;
  int threads = 1;  // Backend::team()
  Precision precision = Precision::fp32;
  std::size_t own_floats = 0;  // about what update() will own
  std::size_t moments = 0;     // moments per parameter; 0 if update() is not used
  ActivationStorage storage{};
  // Called if the device fails; must not return. If null, DeviceError is thrown out of the backend.
  std::function<void(const std::string&)> failed = nullptr;
  // Receives PassGraphs' messages for users.
  std::function<void(const std::string&)> notify = nullptr;
};

class DeviceSums : public Backend {
 public:
  // Errc::invalid if the device has not enough memory, or cannot compute the model. `model` must
  // outlive the backend.
  [[nodiscard]] static Result<std::unique_ptr<DeviceSums>> create(const Model& model,
                                                                  std::unique_ptr<Queue> queue,
                                                                  DeviceSettings settings);

  [[nodiscard]] Partials sum(const StepInput& input, Span run) override;

  [[nodiscard]] std::uint64_t audited() const override { return audited_; }

  [[nodiscard]] std::uint64_t recompute(const StepInput& input) override;

  [[nodiscard]] Score evaluate(const Samples& samples,
                               const float* weights,
                               const float* running,
                               int parts,
                               int part) override;

  [[nodiscard]] Score evaluate_within(Window& window,
                                      const Samples& samples,
                                      const float* weights,
                                      const float* running,
                                      int parts,
                                      int part) override;

  [[nodiscard]] Team& team() override { return team_; }

  [[nodiscard]] const Layout& layout() const override { return model_.layout; }

  [[nodiscard]] int at_once() const override { return 1; }

  [[nodiscard]] ChunkUpdate* update() override { return &update_; }

  [[nodiscard]] std::size_t device_bytes() const override { return queue_->allocated(); }

  [[nodiscard]] const PassGraphs& graphs() const { return network_.graphs(); }

  [[nodiscard]] Queue& queue() { return *queue_; }

  // Collective, before the first sum(): links the devices of all ranks. `all` must outlive this.
  void link(Group& all, const LinkId& id, DeviceExchange::Settings settings);

  // nullptr before link().
  [[nodiscard]] ArrayExchange* exchange() override { return exchange_ ? &*exchange_ : nullptr; }

 private:
  DeviceSums(const Model& model, std::unique_ptr<Queue> queue, DeviceSettings settings);

  // Arrays of sums in device memory:
  float* take_array();

  void return_array(float* sums) { unused_.push_back(sums); }

  void keep_on_device(Partials sums);
  float* shard_sum(const StepInput& input, int shard);
  float* node_sum(const StepInput& input, Span node);
  [[nodiscard]] std::uint64_t checksum_of(const float* sums);
  [[nodiscard]] std::size_t chunks_of(const Samples& samples) const;
  [[nodiscard]] Score evaluate_chunk(const Samples& samples,
                                     std::size_t chunk,
                                     const WeightUploads::Enter& enter);

  // The sums of a node on the device, to be copied to the host while the next node is computed.
  struct Waiting {
    Span node;
    Event computed;
  };

  // The sums of each node of a run: on the device, and their places on the host.
  struct Sums {
    Partials on_device;
    Partials on_host;
  };

  [[nodiscard]] Sums sums_of_nodes(const StepInput& input, Span run, bool reuses_memory);

  // Copies of arrays on the device to arrays on the host:
  [[nodiscard]] float* host_array(std::size_t number, bool is_sparse);
  [[nodiscard]] Range copied_range(bool only_tail) const;
  void copy_sums(Span node, const Partials& on_device, const Partials& on_host, Range range);
  void hand_over(const GradientBuckets& buckets,
                 const Partials& on_device,
                 const Partials& on_host);

  const Model& model_;
  DeviceSettings settings_;
  Team team_;
  std::unique_ptr<Queue> queue_;
  DeviceNetwork network_;
  Resident resident_;
  DeviceUpdate update_;
  DeviceLaps laps_;
  WeightUploads uploads_;
  std::array<Event, 2> computed_;
  Partials device_gradients_;  // gradients of the last sum() that stay on the device
  std::optional<DeviceExchange> exchange_;
  std::vector<float*> unused_;
  std::vector<std::size_t> indices_;
  float* running_;  // statistics, for evaluation
  std::deque<Buffer> host_arrays_;
  Buffer audited_sums_;  // sums of the audited shard
  std::uint64_t audited_ = 0;
};

}  // namespace dts::train::accelerator
