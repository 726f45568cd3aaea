// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/unnamed_file.hpp"

#include "core/base/hash.hpp"

#include <fcntl.h>

namespace dts {

UniqueFd unnamed_file(const std::string& folder) {
  UniqueFd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.valid()) return file;  // NFS, for one, has no such files
  const std::string path = folder + "/.dtsubmit-" + random_hex(8);
  file.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.valid() && ::unlink(path.c_str()) != 0) file.reset();
  return file;
}

}  // namespace dts
