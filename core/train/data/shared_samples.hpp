// SPDX-License-Identifier: Apache-2.0
// Training and test images, read once per node and shared by its ranks.
#pragma once

#include "core/train/comm/comm.hpp"
#include "core/train/data/dataset.hpp"

#include <cstdint>
#include <string>

namespace dts::train {

struct SharedSamples {
  Samples train;
  Samples test;
  const char* unit = "images";  // what a sample is
  std::uint64_t hash = 0;       // XXH3 of the training images used
  // XXH3 of all images and labels that this rank was told to use: of its node's, or of a folder of
  // its own.
  std::uint64_t hash_of_all = 0;
};

// Collective. Errc::invalid for data that cannot be read or is malformed. Every rank then gets an
// error; only that of the lowest failed rank has a message.
[[nodiscard]] Result<SharedSamples> share_samples(Comm& comm,
                                                  const std::string& folder,
                                                  std::size_t limit_train);

}  // namespace dts::train
