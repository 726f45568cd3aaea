// SPDX-License-Identifier: Apache-2.0
// Files of a checkpoint and of the data set: whatever the bytes, an answer and no more memory than
// they justify.
#include "core/base/files/unique_fd.hpp"
#include "core/base/hash.hpp"
#include "core/train/checkpoint/checkpoint.hpp"
#include "core/train/checkpoint/tensor_header.hpp"
#include "core/train/data/dataset.hpp"
#include "tests/support/fuzz.hpp"

#include <sys/mman.h>

using dts::tests::must;
using namespace dts::train;

namespace {

// Small enough that a whole file fits into an input; one tensor has columns to put in order.
const Layout& small_layout() {
  static const Layout layout = [] {
    Layout made;
    made.parameters = {{"a.weight", {4, 3}, 0, 12}, {"fc.weight", {2, 32}, 16, 64}};
    made.parameters[1].pixels = 2;
    made.statistics = {{"s", {4}, 0, 4}};
    made.parameter_floats = 80;
    made.statistic_floats = 16;
    return made;
  }();
  return layout;
}

void read_state(std::string_view input, ColumnOrder order) {
  const dts::UniqueFd fd(memfd_create("state", MFD_CLOEXEC));
  must(pwrite(fd.get(), input.data(), input.size(), 0) == static_cast<ssize_t>(input.size()));
  State state(small_layout());
  Assembly assembly(small_layout(), order, &state);
  const PartFile file{"state.safetensors", input.size(), dts::hash64(input)};
  const bool read = assembly.add(fd.get(), file).has_value();
  if (read && assembly.complete()) {
    must(input.size() >= 8 + 2 + (2 * (12 + 64) + 4) * sizeof(float));
    // The same file again: no row may come twice.
    must(lseek(fd.get(), 0, SEEK_SET) == 0 && !assembly.add(fd.get(), file));
  }
}

}  // namespace

DTS_FUZZ_TARGET(input) {
  if (const auto manifest = parse_manifest(input)) {
    const std::string again = encode_manifest(*manifest);
    const auto parsed = parse_manifest(again);
    must(parsed.has_value() && encode_manifest(*parsed) == again);
  }
  if (const auto entries = parse_tensor_header(input, 624))
    for (const TensorEntry& entry : *entries) must(entry.begin <= 624);
  read_state(input, ColumnOrder::pytorch);
  read_state(input, ColumnOrder::internal);
  if (const auto idx = parse_idx(input)) must(idx->values.size() <= input.size());
}
