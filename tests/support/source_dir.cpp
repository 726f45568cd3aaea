// SPDX-License-Identifier: Apache-2.0
#include "tests/support/source_dir.hpp"

namespace dts::tests {

std::string in_source(const std::string& path) {
  return std::string(DTS_SOURCE_DIR "/") + path;
}

}  // namespace dts::tests
