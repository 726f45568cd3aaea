// SPDX-License-Identifier: Apache-2.0
// Random crops and flips of images that are trained on. Pure, thread-safe: what becomes of an image
// is a function of seed, epoch and image, so that neither ranks nor threads nor a restart change
// it.
#pragma once

#include "core/train/data/samples.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dts::train {

// K. He et al., "Deep Residual Learning for Image Recognition", 2015, section 4.2.
struct Augmentation {
  bool crops = false;  // an image is cut out of itself with 4 pixels of zeros around it
  bool flips = false;  // every second image is mirrored, left to right

  [[nodiscard]] bool is_any() const { return crops || flips; }

  [[nodiscard]] std::string text() const;  // "crop,flip"
};

// "crop", "flip", "crop,flip" or "none".
[[nodiscard]] std::optional<Augmentation> augmentation_of(std::string_view words);

// Pixel (y, x) is that of the image at (y + down, x + right), of its mirror image if flipped; zero
// outside.
struct Placement {
  int down = 0;
  int right = 0;
  bool is_flipped = false;
};

// Of the image `index` in that epoch.
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
