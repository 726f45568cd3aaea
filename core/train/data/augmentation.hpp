// SPDX-License-Identifier: Apache-2.0
// Random crops and flips of training images. Pure, thread-safe: the change of an image is a
// function of seed, epoch and image, so that it does not depend on ranks, threads
// or restarts.
#pragma once

#include "core/train/data/samples.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dts::train {

// K. He et al., "Deep Residual Learning for Image Recognition", 2015, section 4.2.
struct Augmentation {
  bool crops = false;  // takes a random part of the image with 4 zeros around it
  bool flips = false;  // mirrors left to right with probability 1/2

  [[nodiscard]] bool is_any() const { return crops || flips; }

  [[nodiscard]] std::string text() const;  // "crop,flip"
};

// "crop", "flip", "crop,flip" or "none".
[[nodiscard]] std::optional<Augmentation> augmentation_of(std::string_view words);

// Pixel (y, x) of the result is pixel (y + down, x + right) of the image, or of its mirror image if
// `is_flipped`; zero outside.
struct Placement {
  int down = 0;
  int right = 0;
  bool is_flipped = false;
};

// The placement of image `index` in that epoch.
[[nodiscard]] Placement placement_of(const Augmentation& augmentation,
                                     std::uint64_t seed,
                                     std::uint64_t epoch,
                                     std::uint64_t index);

// Both arrays are [channels][side][side], and disjoint.
void place_image(const std::uint8_t* from,
                 const ImageFormat& format,
                 const Placement& placement,
                 std::uint8_t* to);

}  // namespace dts::train
