// SPDX-License-Identifier: Apache-2.0
// Help texts, laid out by ourselves: CLI11's own layout changes from release to release.
#pragma once

#include <memory>

// CLI11's headers cost seconds per file.
namespace CLI {
class FormatterBase;
}  // namespace CLI

namespace dts::cli {

enum class Positionals {
  listed,         // in a section of their own
  in_usage_only,  // the usage line says all that is needed
};

// The group of options that the layout omits. An empty one, CLI11's own way, would leave their
// names out of its error messages, too.
inline constexpr const char* k_hidden = "hidden";

[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_layout(Positionals positionals);

}  // namespace dts::cli
