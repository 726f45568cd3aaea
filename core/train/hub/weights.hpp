// SPDX-License-Identifier: Apache-2.0
// A folder of Hugging Face's transformers: config.json and model.safetensors, or several files with
// model.safetensors.index.json. Safe for any content of the files.
#pragma once

#include "core/base/result.hpp"
#include "core/train/models/model_table.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::train {

// What its config.json describes. Errc::not_found, Errc::io, Errc::invalid.
[[nodiscard]] Result<Model> read_hub_model(const std::string& folder);

// Fills `weights` [Layout::parameter_floats] from its files, of float32, float16 or bfloat16.
// Errc::invalid names all tensors at once that are missing, unknown, or of another shape.
[[nodiscard]] Result<void> read_hub_weights(const std::string& folder,
                                            const Model& model,
                                            float* weights);

// Only those of `wanted`, which is ascending and has no overlaps; the files are not read besides.
[[nodiscard]] Result<void> read_hub_weights(const std::string& folder,
                                            const Model& model,
                                            const std::vector<Range>& wanted,
                                            float* weights);

struct HubWriting {
  bool is_bfloat16 = false;  // rounded to nearest, to even; otherwise float32
  std::uint64_t most_bytes = std::uint64_t{5} << 30;  // of tensors in a file
  std::string like{};  // a folder of transformers whose config.json is kept (encode_config())
};

// Makes the folder with config.json and the weights, files that are whole and on the disk once this
// returns. Errc::not_found or Errc::io if `like` cannot be read, Errc::io if the folder has a
// config.json already, or the disk is full; Errc::usage for a model that transformers does not
// know.
[[nodiscard]] Result<void> write_hub_folder(const std::string& folder,
                                            const Model& model,
                                            const float* weights,
                                            const HubWriting& how);

}  // namespace dts::train
