// SPDX-License-Identifier: Apache-2.0
// The folder of the project. Only source_dir.cpp is compiled with its name: all other objects are
// the same in every clone, so that a compiler cache finds them.
#pragma once

#include <string>

namespace dts::tests {

// The absolute path of `path` in the project's folder.
std::string in_source(const std::string& path);

}  // namespace dts::tests
