// SPDX-License-Identifier: Apache-2.0
// A small step of a model for tests: its weights, its samples, and the backends that compute it.
#pragma once

#include "core/train/accelerator/device_sums.hpp"
#include "core/train/backend/shard_sums.hpp"
#include "core/train/device/kernels.hpp"
#include "core/train/models/model_table.hpp"
#include "tests/unit/accelerator/device.hpp"

#include <string>

namespace dts::train::accelerator {

inline constexpr int k_shards = 6;  // not a power of two
inline constexpr int k_micro = 2;
inline constexpr std::size_t k_images = 25;  // not a multiple of k_shards or k_micro
inline constexpr const char* k_small =
    "gpt2,vocab_size=61,n_positions=9,n_embd=48,n_layer=2,n_head=3,n_inner=80";

struct Step {
  Model model;
  std::vector<std::byte> bytes;  // tokens
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
  Buffer weights;
  StepInput input;

  explicit Step(const std::string& words = k_small) : model(make_model(words).value()) {
    const auto classes = static_cast<unsigned>(model.classes);
    if (model.reads.what == Reads::What::tokens)
      for (std::size_t i = 0; i < 400; ++i)
        bytes.push_back(static_cast<std::byte>(dts::mix(i) % classes));
    else
      for (std::size_t i = 0; i < k_images; ++i)
        labels.push_back(static_cast<std::uint8_t>(dts::mix(i) % classes));
    for (std::size_t i = 0; i < labels.size() * model.reads.format->pixels(); ++i)
      pixels.push_back(static_cast<std::uint8_t>(dts::mix(i)));
    weights = Buffer(model.layout.parameter_floats);
    initial_weights(model.layout, 3, weights.data());
    // Changes biases and norms, as training would.
    for (const Tensor& tensor : model.layout.parameters)
      for (std::size_t i = 0; i < tensor.count; ++i)
        weights.data()[tensor.offset + i] += 0.05F * noise(1, tensor.offset + i).front();
    input = {samples(), weights.data(), 9, 4, k_shards * k_micro};
  }

  [[nodiscard]] Samples samples() const {
    Samples all;
    if (!labels.empty()) {
      all.images = pixels.data();
      all.labels = labels.data();
      all.count = labels.size();
      all.format = model.reads.format;
      return all;
    }
    all.context = model.reads.context;
    all.tokens = {bytes.data(), bytes.size(), 1};
    all.count = (bytes.size() - 1) / static_cast<std::size_t>(all.context);
    return all;
  }

  [[nodiscard]] std::unique_ptr<DeviceSums> device(Precision precision = Precision::fp32,
                                                   ActivationStorage storage = {}) const {
    return device_of(new_queue(), precision, storage);
  }

  // The backend for the device of `queue`.
  [[nodiscard]] std::unique_ptr<DeviceSums> device_of(std::unique_ptr<Queue> queue,
                                                      Precision precision,
                                                      ActivationStorage storage = {}) const {
    auto made = DeviceSums::create(model,
                                   std::move(queue),
                                   {.shards = k_shards,
                                    .own_shards = k_shards,
                                    .micro_batch = k_micro,
                                    .precision = precision,
                                    .storage = storage});
    REQUIRE(made);
    return std::move(*made);
  }

  [[nodiscard]] std::unique_ptr<ShardSums> processor() const {
    return ShardSums::create(model, k_shards, k_micro, 1).value();
  }

  [[nodiscard]] std::vector<float> whole(const Partials& partials) const {
    const std::size_t count = model.layout.sum_floats();
    const float* const sum = combine({0, k_shards}, partials, 0, count);
    REQUIRE(sum != nullptr);
    return {sum, sum + count};
  }
};

}  // namespace dts::train::accelerator
