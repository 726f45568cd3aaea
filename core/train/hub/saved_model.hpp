// SPDX-License-Identifier: Apache-2.0
// Checkpoints with the model that they are of, for programs that do not train. Safe for any content
// of the files.
#pragma once

#include "core/base/result.hpp"
#include "core/train/checkpoint/checkpoint.hpp"
#include "core/train/model/model.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace dts::train {

// By step, the paths of the checkpoints in a folder, or of the one that the folder is.
[[nodiscard]] std::map<std::uint64_t, std::string> checkpoints_in(const std::string& folder);

struct SavedModel {
  Model model;
  Layout layout;  // the model's, with ballast and the optimiser's moments
  Manifest manifest;
};

// Of a checkpoint, by what its manifest says. Errc::not_found, Errc::invalid, Errc::io; the
// manifest alone is read.
[[nodiscard]] Result<SavedModel> model_of(const std::string& checkpoint);

}  // namespace dts::train
