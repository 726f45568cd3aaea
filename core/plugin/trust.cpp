// SPDX-License-Identifier: Apache-2.0
// Whether a plug-in's file can have been written, or can be replaced, by somebody else.
#include "core/plugin/host.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace dts::plugin {
namespace {

// One step of the path: the file itself or a folder above it.
Result<void> check_step(const std::string& step, bool is_folder) {
  struct stat info {};

  if (lstat(step.c_str(), &info) != 0) return fail_errno(step);
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    return fail(Errc::invalid, fmt::format("refusing a plug-in: {} {}", step, why), hint);
  };
  if (!is_folder && !S_ISREG(info.st_mode)) return refuse("is not a regular file", "");
  if (info.st_uid != 0 && info.st_uid != geteuid())
    return refuse(fmt::format("belongs to user {}, neither to root nor to you", info.st_uid),
                  "use a plug-in that you or root installed");
  const bool sticky = is_folder && (info.st_mode & S_ISVTX) != 0;
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky)
    return refuse("can be written by others", fmt::format("chmod go-w '{}'", step));
  return {};
}

}  // namespace

Result<std::string> check_plugin_file(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr),
                                                             &std::free);
  if (!resolved) return fail_errno(path);
  const std::string real = resolved.get();
  DTS_TRY(check_step(real, false));
  for (std::string folder = real; folder != "/";) {
    const std::size_t slash = folder.rfind('/');
    folder = slash == 0 ? "/" : folder.substr(0, slash);
    DTS_TRY(check_step(folder, true));
  }
  return real;
}

}  // namespace dts::plugin
