// SPDX-License-Identifier: Apache-2.0
// Checkpoints together with their model, for commands that do not train. Safe for any content of
// the files.
#pragma once

#include "core/base/result.hpp"
#include "core/train/checkpoint/checkpoint.hpp"
#include "core/train/model/model.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace dts::train {

// The checkpoints in a folder, or the folder itself if it is one: paths by step.
[[nodiscard]] std::map<std::uint64_t, std::string> checkpoints_in(const std::string& folder);

struct SavedModel {
  Model model;
  Layout layout;  // the model's, plus ballast and the optimiser's moments
  Manifest manifest;
};

// The model of a checkpoint, according to its manifest, the only file that is read.
// Errc::not_found, Errc::invalid, Errc::io.
[[nodiscard]] Result<SavedModel> model_of(const std::string& checkpoint);

}  // namespace dts::train
