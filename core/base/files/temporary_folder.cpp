// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/temporary_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace dts {

Result<std::string> make_temporary_folder(std::string_view prefix) {
  const char* const parent = std::getenv("TMPDIR");
  std::string folder = fmt::format("{}/{}-XXXXXX", parent != nullptr ? parent : "/tmp", prefix);
  if (::mkdtemp(folder.data()) == nullptr) return fail_errno("cannot make " + folder);
  return folder;
}

}  // namespace dts
