// SPDX-License-Identifier: Apache-2.0
// Samples as a network reads them: images augmented and normalised, windows of tokens, and labels.
// Not thread-safe.
#pragma once

#include "core/train/data/augmentation.hpp"
#include "core/train/data/samples.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dts::train {

class SampleReader {
 public:
  explicit SampleReader(const Reads& reads) : reads_(reads) {}

  // Of one batch, in the host's memory; Plan describes the first two, of which one is nullptr.
  struct Input {
    float* images = nullptr;  // what is around them is left alone
    std::uint32_t* tokens = nullptr;
    std::uint32_t* labels = nullptr;  // of all predictions
  };

  // Floats of one image in Input.
  [[nodiscard]] std::size_t image_floats() const;

  // `placements`: of each image; none: as they are.
  void read(const Samples& samples,
            std::span<const std::size_t> indices,
            std::span<const Placement> placements,
            const Input& to);

 private:
  void read_image(const Samples& samples, std::size_t index, const Placement* placement, float* to);

  Reads reads_;
  std::vector<std::uint8_t> placed_;  // an image
};

}  // namespace dts::train
