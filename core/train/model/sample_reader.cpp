// SPDX-License-Identifier: Apache-2.0
#include "core/train/model/sample_reader.hpp"

#include "core/train/device/kernels.hpp"

namespace dts::train {

std::size_t SampleReader::image_floats() const {
  const auto side = static_cast<std::size_t>(reads_.format->side + 2 * reads_.padding);
  return static_cast<std::size_t>(reads_.format->channels) * side * side;
}

void SampleReader::read_image(const Samples& samples,
                              std::size_t index,
                              const Placement* placement,
                              float* to) {
  const ImageFormat& format = *samples.format;
  const auto side = static_cast<std::size_t>(format.side);
  const std::uint8_t* pixels = samples.images + index * format.pixels();
  if (placement != nullptr) {
    placed_.resize(format.pixels());
    place_image(pixels, format, *placement, placed_.data());
    pixels = placed_.data();
  }
  const auto channels = static_cast<std::size_t>(format.channels);
  for (std::size_t c = 0; c < channels; ++c)
    normalise_image(pixels + c * side * side,
                    {format.side, format.side, reads_.padding},
                    format.mean[c],
                    format.deviation[c],
                    to + c * (image_floats() / channels));
}

void SampleReader::read(const Samples& samples,
                        std::span<const std::size_t> indices,
                        std::span<const Placement> placements,
                        const Input& to) {
  const auto context = static_cast<std::size_t>(reads_.context);
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (reads_.what == Reads::What::images) {
      read_image(samples,
                 indices[i],
                 placements.empty() ? nullptr : &placements[i],
                 to.images + i * image_floats());
      to.labels[i] = samples.labels[indices[i]];
    } else {
      read_window(samples, indices[i], to.tokens + i * context, to.labels + i * context);
    }
}

}  // namespace dts::train
