// SPDX-License-Identifier: Apache-2.0
// The text of a Python script and of the modules beside it that it imports, as far as a look at
// their lines shows. Nothing is executed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// The modules that the import statements of a Python text name, in their order: "util.misc" for
// `import util.misc`; "util" and "util.misc" for `from util import misc`; dots of relative imports
// remain: ".misc". Statements that a line continues are read up to its end. Pure.
[[nodiscard]] std::vector<std::string> imported_modules(std::string_view text);

// The texts of the script, first, and of all modules in its folder that it imports, directly or
// through each other; at most 256 files of 1 MiB. Empty: the script cannot be read.
[[nodiscard]] std::vector<std::string> python_texts(const std::string& script);

}  // namespace dts::launch
