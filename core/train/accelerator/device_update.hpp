// SPDX-License-Identifier: Apache-2.0
// The optimiser's step on a device, whose memory keeps the weights and moments that a rank owns.
#pragma once

#include "core/train/accelerator/queue/queue.hpp"
#include "core/train/memory/range.hpp"
#include "core/train/optim/chunk_update.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dts::train::accelerator {

// State that the backend and the update share on a device.
struct Resident {
  float* weights = nullptr;          // of all parameters
  std::vector<Range> own;            // the part that the host does not send; sorted
  const float* gradients = nullptr;  // of all parameters, if they stay on the device
  bool is_exchanged = false;         // between devices: nothing goes through hosts
};

// Runs `work`. On DeviceError calls `failed`, unless null, with the message, and then rethrows.
template <class Work>
auto guarded(const std::function<void(const std::string&)>& failed, const Work& work) {
  try {
    return work();
  } catch (const DeviceError& e) {
    if (failed) failed(e.what());
    throw;
  }
}

class DeviceUpdate : public ChunkUpdate {
 public:
  // `failed` is DeviceSettings::failed. The queue and `resident` must outlive this.
  DeviceUpdate(Queue& queue,
               Resident& resident,
               std::size_t parameters,
               std::function<void(const std::string&)> failed)
      : queue_(queue), resident_(resident), parameters_(parameters), failed_(std::move(failed)) {}

  // Allocates memory in advance, so that a lack of memory is found now.
  void reserve(std::size_t floats, std::size_t moments);

  void begin(Owned owned, const float* weights, const float* moments) override;
  void look(std::span<ChunkReport> reports) override;
  void squares(const float* gradients, std::span<double> each) override;
  void step(const UpdateFactors& factors,
            const float* gradients,
            std::span<ChunkReport> reports) override;
  void move(std::span<const float> rates, std::span<ChunkReport> reports) override;
  void next_weights(float* all) override;
  void keep() override;

  [[nodiscard]] float* all_weights() override { return resident_.weights; }

  void weights(float* all) override;
  void moments(float* owned) override;
  void flip_weight(std::size_t place) override;
  void flip_moment(std::size_t place) override;

 private:
  // Memory that grows; its content is undefined afterwards.
  template <class Value>
  struct Grown {
    Value* at = nullptr;
    std::size_t count = 0;

    void grow(Queue& queue, std::size_t wanted) {
      if (wanted <= count) return;
      if (at != nullptr) queue.release(at);
      at = nullptr;  // allocate() may throw
      at = queue.allocate<Value>(wanted);
      count = wanted;
    }
  };

  [[nodiscard]] std::size_t kinds() const { return owned_.optimizer->moments.size(); }

  [[nodiscard]] Chunkwise all_chunks() const {
    return {owned_.chunks.size(), chunks_.at, owned_.floats, parameters_};
  }

  template <UpdateRule rule>
  void launch(const UpdateFactors& factors, const float* gradients);
  [[nodiscard]] const float* on_device(const float* gradients);
  void fetch(std::span<ChunkReport> reports);
  [[nodiscard]] const OwnChunk& chunk_at(std::size_t place) const;
  void flip(float* at);

  Queue& queue_;
  Resident& resident_;
  std::size_t parameters_;
  std::function<void(const std::string&)> failed_;
  Owned owned_;
  Grown<OwnChunk> chunks_;
  Grown<ChunkReport> reports_;
  Grown<double> squares_;
  Grown<float> rates_;
  Grown<float> gradients_;              // copied from the host
  const float* copied_from_ = nullptr;  // the host's array whose copy squares() left in gradients_
  Grown<float> next_weights_;
  Grown<float> moments_;
  Grown<float> next_moments_;
};

}  // namespace dts::train::accelerator
