// SPDX-License-Identifier: Apache-2.0
// The options of `dtsubmit simulate` that describe what is simulated.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/reliability/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dts::cli {

// As typed, one for each option; parsed by set_model(), so that all mistakes are reported together.
using Typed = std::vector<std::optional<std::string>>;

// Adds the options to `verb`; `typed` must outlive the parsing.
void add_model_options(CLI::App& verb, Typed& typed);

// Puts the options into `model`, and adds those that cannot be read to `problems`.
void set_model(const Typed& typed, reliability::Model& model, Diagnostics& problems);

// A policy to compare with: "spares=4,detect=10s", names as the options without their dashes.
void set_policy(const std::string& text, reliability::Model& model, Diagnostics& problems);

}  // namespace dts::cli
