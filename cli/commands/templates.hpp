// SPDX-License-Identifier: Apache-2.0
// The templates of batch scripts on disk: NAME.mustache in templates/ of the user's folder, then of
// the site's, then beside the template that a file was named for.
#pragma once

#include "core/script/template/render.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dts::cli {

// By name, in this order: `file` itself, if `name` is that; in the folder of `file`; the user's;
// the site's; nullopt for none of these. Files found by their place must be ours or root's, and
// written by nobody else. `file` empty: none was named. Thread-safe.
[[nodiscard]] script::Partials templates_on_disk(const std::string& file);

// True if --template names a file rather than a template: it has a slash, or ends in ".mustache".
[[nodiscard]] bool is_template_file(const std::string& name);

// All names with the place each comes from: a path, or "built in". Sorted.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> all_templates();

}  // namespace dts::cli
