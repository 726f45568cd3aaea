// SPDX-License-Identifier: Apache-2.0
// config.json and safetensors files of strangers: whatever the bytes, a model or an error.
#include "core/base/files/unique_fd.hpp"
#include "core/train/checkpoint/tensor_header.hpp"
#include "core/train/hub/config.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;
using namespace dts::train;

DTS_FUZZ_TARGET(input) {
  // A vast number of layers is a valid model, but takes its time.
  if (input.size() > 4096) return;
  if (const auto model = parse_config(input); model && model->layout.parameters.size() < 100) {
    const auto again = parse_config(encode_config(*model, "float32"));
    must(again.has_value() && again->sizes == model->sizes && again->name == model->name);
  }
  constexpr std::uint64_t k_bytes = 1000;
  if (const auto entries = parse_tensor_header(input, k_bytes)) {
    std::uint64_t at = 0;
    for (const TensorEntry& entry : *entries) {
      must(entry.begin == at && entry.end >= at && entry.end <= k_bytes);
      at = entry.end;
    }
    must(at == k_bytes);
  }
}
