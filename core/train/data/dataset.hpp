// SPDX-License-Identifier: Apache-2.0
// Labelled images in the IDX format of MNIST and Fashion-MNIST (http://yann.lecun.com/exdb/mnist/,
// "FILE FORMATS"), gzip-compressed, and in CIFAR-10's binary one
// (https://www.cs.toronto.edu/~kriz/cifar.html). Pure except for reading the files.
#pragma once

#include "core/base/result.hpp"
#include "core/train/data/samples.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dts::train {

// The content of one IDX file of unsigned bytes, as a view of the parsed text.
struct Idx {
  std::vector<std::size_t> extents;
  std::span<const std::uint8_t> values;
};

// Errc::invalid for a wrong magic number or type, more than 4 dimensions, or a body whose length is
// not exactly the product of the extents. Allocates nothing based on sizes in the file.
[[nodiscard]] Result<Idx> parse_idx(std::string_view bytes);

// The decompressed content of a gzip file. Errc::invalid if it is truncated, damaged or larger than
// `limit` bytes; Errc::not_found or Errc::io if it cannot be read.
[[nodiscard]] Result<std::string> read_gzip(const std::string& path, std::size_t limit);

// Images and labels of a data set that owns its memory.
struct RawSamples {
  std::string images;  // the images, or the decompressed file that has them
  std::string labels;
  Samples view;  // into the two; valid while this object is not moved
};

// Reads "<prefix>-images-idx3-ubyte.gz" and "<prefix>-labels-idx1-ubyte.gz" in `folder`. Checks
// that images are 28x28, that there is at least one, that there are as many labels as images, and
// that all labels are below ten.
[[nodiscard]] Result<void> read_samples(const std::string& folder,
                                        const std::string& prefix,
                                        RawSamples& out);

// Appends the records of a CIFAR-10 file, each a label and 3x32x32 bytes. Errc::invalid if the file
// is empty or does not consist of whole records, or if a label is not below ten. Pure.
[[nodiscard]] Result<void> append_cifar(std::string_view content, RawSamples& out);

// Reads data_batch_1.bin to data_batch_5.bin and test_batch.bin in `folder`.
[[nodiscard]] Result<void> read_cifar(const std::string& folder,
                                      RawSamples& train,
                                      RawSamples& test);

}  // namespace dts::train
