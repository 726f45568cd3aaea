// SPDX-License-Identifier: Apache-2.0
// A folder of Hugging Face's transformers: config.json and model.safetensors, or several files
// listed in model.safetensors.index.json. Safe for any content of the files.
#pragma once

#include "core/base/result.hpp"
#include "core/train/models/model_table.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::train {

// The model that its config.json describes. Errc::not_found, Errc::io, Errc::invalid.
[[nodiscard]] Result<Model> read_hub_model(const std::string& folder);

// Fills `weights` [Layout::parameter_floats] from its files, which have float32, float16 or
// bfloat16. Errc::invalid names all tensors at once that are missing, unknown, or of another shape.
[[nodiscard]] Result<void> read_hub_weights(const std::string& folder,
                                            const Model& model,
                                            float* weights);

// Fills only the runs in `wanted`, which is ascending and has no overlaps; reads no other data.
[[nodiscard]] Result<void> read_hub_weights(const std::string& folder,
                                            const Model& model,
                                            const std::vector<Range>& wanted,
                                            float* weights);

struct HubWriting {
  bool is_bfloat16 = false;  // rounded to nearest, ties to even; otherwise float32
  std::uint64_t most_bytes = std::uint64_t{5} << 30;  // of tensors per file
  std::string like{};  // a transformers folder, whose config.json is kept (encode_config())
};

// Creates the folder with config.json and the weights. The files are complete and on disk when this
// returns. Errc::not_found or Errc::io if `like` cannot be read; Errc::io if the folder has a
// config.json already, or the disk is full; Errc::usage for a model that transformers does not
// know.
[[nodiscard]] Result<void> write_hub_folder(const std::string& folder,
                                            const Model& model,
                                            const float* weights,
                                            const HubWriting& how);

}  // namespace dts::train
