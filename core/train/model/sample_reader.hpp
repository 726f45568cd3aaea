// SPDX-License-Identifier: Apache-2.0
// Converts samples to a network's input: augmented and normalised images, windows of tokens, and
// labels. Not thread-safe.
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

  // The input of one batch, in host memory. `images` and `tokens` are described in Plan; one of
  // them is nullptr.
  struct Input {
    float* images = nullptr;  // the padding around them is not written
    std::uint32_t* tokens = nullptr;
    std::uint32_t* labels = nullptr;  // one per prediction
  };

  // The number of floats of one image in Input.
  [[nodiscard]] std::size_t image_floats() const;

  // `placements` has one for each image, or none without augmentation.
  void read(const Samples& samples,
            std::span<const std::size_t> indices,
            std::span<const Placement> placements,
            const Input& to);

 private:
  void read_image(const Samples& samples, std::size_t index, const Placement* placement, float* to);

  Reads reads_;
  std::vector<std::uint8_t> placed_;  // a single image
};

}  // namespace dts::train
