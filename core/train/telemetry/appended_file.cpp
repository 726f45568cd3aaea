// SPDX-License-Identifier: Apache-2.0
#include "core/train/telemetry/appended_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace dts::train {

Result<void> AppendedFile::open(const std::string& path) {
  path_ = path;
  file_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file_.valid()) return fail_errno("cannot open " + path);
  return {};
}

void AppendedFile::append(std::string_view record) {
  if (!file_.valid() || !status_) return;
  const ssize_t written = ::write(file_.get(), record.data(), record.size());
  if (written == static_cast<ssize_t>(record.size())) return;
  if (written >= 0) errno = ENOSPC;
  status_ = fail_errno("cannot write " + path_);

  struct stat info {};

  if (written > 0 && fstat(file_.get(), &info) == 0 &&
      ftruncate(file_.get(), info.st_size - written) != 0)
    status_ = fail_errno("cannot take back half a record of " + path_);
}

}  // namespace dts::train
