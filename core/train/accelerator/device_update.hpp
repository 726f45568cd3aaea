// SPDX-License-Identifier: Apache-2.0
// The optimiser's step on a device: weights and moments of what a rank owns stay in its memory.
#pragma once

#include "core/train/accelerator/queue/queue.hpp"
#include "core/train/memory/range.hpp"
#include "core/train/optim/chunk_update.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dts::train::accelerator {

// What the computation of gradients and the update share on a device.
struct Resident {
  float* weights = nullptr;          // of all parameters
  std::vector<Range> own;            // of these, what the host need not send: sorted
  const float* gradients = nullptr;  // that have stayed, of all parameters
  bool is_exchanged = false;         // by devices: nothing comes from the host or goes there
};

// Calls `failed` with what went wrong, if there is any, before DeviceError leaves.
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
  // `failed` as DeviceSettings has it. Queue and `resident` must outlive it.
  DeviceUpdate(Queue& queue,
               Resident& resident,
               std::size_t parameters,
               std::function<void(const std::string&)> failed)
      : queue_(queue), resident_(resident), parameters_(parameters), failed_(std::move(failed)) {}

  // So that memory runs out now, if it does.
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
  // Memory that grows, and is then undefined.
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
  Grown<float> gradients_;       // that come from the host
  const float* came_ = nullptr;  // since squares(), of these
  Grown<float> next_weights_;
  Grown<float> moments_;
  Grown<float> next_moments_;
};

}  // namespace dts::train::accelerator
