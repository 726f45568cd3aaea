// SPDX-License-Identifier: Apache-2.0
#include "core/train/data/augmentation.hpp"

#include "core/base/random.hpp"

#include <algorithm>

namespace dts::train {
namespace {

constexpr int k_margin = 4;
constexpr std::uint64_t k_salt = 0x6372'6f70'666c'6970;  // independent of the order of samples

// Maps 32 random bits to [-k_margin, k_margin].
int shift_of(std::uint64_t bits) {
  return static_cast<int>((bits * (2 * k_margin + 1)) >> 32) - k_margin;
}

}  // namespace

std::string Augmentation::text() const {
  return std::string(crops ? "crop" : "") + (crops && flips ? "," : "") + (flips ? "flip" : "");
}

std::optional<Augmentation> augmentation_of(std::string_view words) {
  for (const Augmentation one :
       {Augmentation{true, false}, Augmentation{false, true}, Augmentation{true, true}})
    if (words == one.text()) return one;
  return words == "none" ? std::optional(Augmentation{}) : std::nullopt;
}

Placement placement_of(const Augmentation& augmentation,
                       std::uint64_t seed,
                       std::uint64_t epoch,
                       std::uint64_t index) {
  const std::uint64_t bits = mix(mix(mix(seed ^ k_salt) ^ epoch) ^ index);
  Placement placement;
  if (augmentation.crops) {
    placement.down = shift_of(bits >> 32);
    placement.right = shift_of(bits & 0xffff'ffff);
  }
  placement.is_flipped = augmentation.flips && (mix(bits) & 1) != 0;
  return placement;
}

void place_image(const std::uint8_t* from,
                 const ImageFormat& format,
                 const Placement& placement,
                 std::uint8_t* to) {
  const int side = format.side;
  const int first = std::max(0, -placement.right);  // first column that is not zero
  const int last = std::min(side, side - placement.right);
  std::fill_n(to, format.pixels(), std::uint8_t{0});
  for (int row = 0; row < format.channels * side; ++row) {
    const int y = row % side + placement.down;
    if (y < 0 || y >= side) continue;
    const std::uint8_t* const source = from + (row + placement.down) * side;
    std::uint8_t* const target = to + row * side;
    for (int x = first; x < last; ++x) {
      const int column = x + placement.right;
      target[x] = source[placement.is_flipped ? side - 1 - column : column];
    }
  }
}

}  // namespace dts::train
