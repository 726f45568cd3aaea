// SPDX-License-Identifier: Apache-2.0
// Appends complete lines.
#include "core/train/telemetry/metrics.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace dts::train {

Result<void> Metrics::open(const std::string& path) {
  path_ = path;
  file_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file_.valid()) return fail_errno("cannot open " + path);
  return {};
}

void Metrics::write(std::string_view fields) {
  if (!file_.valid() || !status_) return;
  const std::string line = fmt::format("{{{}}}\n", fields);
  const ssize_t written = ::write(file_.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return;
  if (written >= 0) errno = ENOSPC;
  status_ = fail_errno("cannot write " + path_);

  struct stat info {};

  if (written > 0 && fstat(file_.get(), &info) == 0 &&
      ftruncate(file_.get(), info.st_size - written) != 0)
    status_ = fail_errno("cannot take back half a line of " + path_);
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace dts::train
