// SPDX-License-Identifier: Apache-2.0
// Batch script templates on disk: NAME.mustache in templates/ of the user's folder, then of the
// site's, then next to an explicitly named template file.
#pragma once

#include "core/script/template/render.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dts::cli {

// Looks up a name in this order: `file` itself, if it has that name; the folder of `file`; the
// user's; the site's; otherwise nullopt. Files found by their location must belong to us or root
// and be writable by nobody else. `file` empty: none was named. Thread-safe.
[[nodiscard]] script::Partials templates_on_disk(const std::string& file);

// True if --template names a file and not a template: it contains a slash, or ends in ".mustache".
[[nodiscard]] bool is_template_file(const std::string& name);

// All names with the origin of each: a path, or "built in". Sorted.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> all_templates();

}  // namespace dts::cli
