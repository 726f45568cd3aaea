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
// not exactly the product of the extents. Nothing is allocated from sizes the file claims.
[[nodiscard]] Result<Idx> parse_idx(std::string_view bytes);

// The inflated content of a gzip file. Errc::invalid if it is truncated, damaged or inflates to
// more than `limit` bytes; Errc::not_found or io if it cannot be read.
[[nodiscard]] Result<std::string> read_gzip(const std::string& path, std::size_t limit);

// Images and labels of a data set, in storage of its own.
struct RawSamples {
  std::string images;  // or the inflated file of them
  std::string labels;
  Samples view;  // into the two; valid while this object is not moved
};

// Reads "<prefix>-images-idx3-ubyte.gz" and "<prefix>-labels-idx1-ubyte.gz" of `folder`. Checks
// that images are 28x28, that there is at least one, that there are as many labels as images, and
// that all labels are below ten.
[[nodiscard]] Result<void> read_samples(const std::string& folder,
                                        const std::string& prefix,
                                        RawSamples& out);

// Appends the records of a file of CIFAR-10, a label and 3x32x32 bytes each. Errc::invalid for a
// length that is no whole number of them, none, or a label that is not below ten. Pure.
[[nodiscard]] Result<void> append_cifar(std::string_view content, RawSamples& out);

// Reads data_batch_1.bin to data_batch_5.bin and test_batch.bin of `folder`.
[[nodiscard]] Result<void> read_cifar(const std::string& folder,
                                      RawSamples& train,
                                      RawSamples& test);

}  // namespace dts::train
