// SPDX-License-Identifier: Apache-2.0
// The options of `dtsubmit simulate` that describe the model.
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

// One entry per option, as typed; set_model() parses them, so that all mistakes are reported
// together.
using Typed = std::vector<std::optional<std::string>>;

// Adds the options to `verb`; `typed` must outlive parsing.
void add_model_options(CLI::App& verb, Typed& typed);

// Applies the options to `model`, and adds unreadable ones to `problems`. Keeps the defaults of
// options that were not typed.
void set_model(const Typed& typed, reliability::Model& model, Diagnostics& problems);

// Which options can be set by their names.
enum class Settable {
  policy,
  policy_and_failures,
};

// Reads "spares=4,detect=10s", with option names without dashes. Problems are attributed to
// `option`.
void set_by_names(const char* option,
                  const std::string& text,
                  Settable settable,
                  reliability::Model& model,
                  Diagnostics& problems);

}  // namespace dts::cli
