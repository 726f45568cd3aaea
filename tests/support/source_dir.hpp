// SPDX-License-Identifier: Apache-2.0
// Where the project's own files are. Only source_dir.cpp is compiled with that folder's name: all
// other objects are the same in every clone, so that a compiler cache finds them.
#pragma once

#include <string>

namespace dts::tests {

// `path` below the project's folder, as an absolute path.
std::string in_source(const std::string& path);

}  // namespace dts::tests
