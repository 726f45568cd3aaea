// SPDX-License-Identifier: Apache-2.0
// Files of CIFAR-10: whatever the bytes, an error, or images and labels that are all of them.
#include "core/train/data/dataset.hpp"
#include "tests/support/fuzz.hpp"

#include <algorithm>

using dts::tests::must;
using namespace dts::train;

DTS_FUZZ_TARGET(input) {
  RawSamples samples;
  if (!append_cifar(input, samples)) return;
  const std::size_t count = samples.view.count;
  must(count > 0 && count * (1 + k_cifar10.pixels()) == input.size());
  must(samples.labels.size() == count && samples.images.size() == count * k_cifar10.pixels());
  must(*std::max_element(samples.view.labels, samples.view.labels + count) < k_classes);
  must(samples.images.back() == input.back());
}
