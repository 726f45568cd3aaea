// SPDX-License-Identifier: Apache-2.0
// Whether another user can have written, or can replace, a plug-in's file.
#include "core/base/files/owners.hpp"
#include "core/plugin/host.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <memory>

namespace dts::plugin {
namespace {

constexpr mode_t k_others_write = S_IWGRP | S_IWOTH;

// What is known about the folders above a file or folder.
struct Path {
  OwnerView view;
  bool in_ours = false;  // below a folder that the user owns
  bool in_open = false;  // in a folder where others can create files
};

Result<void> refuse(const std::string& step, const std::string& why, const std::string& hint = "") {
  return fail(Errc::invalid, fmt::format("refusing a plug-in: {} {}", step, why), hint);
}

// If a user namespace hides the owners, a file that only root can have created counts as root's.
// The submitting user is outside of this namespace, where the same file was judged by its true
// owner.
bool is_roots(const Path& above, uid_t owner) {
  return above.view.is_unknown(owner) && !above.in_ours && !above.in_open;
}

// Checks one component: the file itself or a folder above it. Updates `above` for the next one.
Result<void> check_step(const std::string& step, bool is_folder, Path& above) {
  struct stat info {};

  if (::lstat(step.c_str(), &info) != 0) return fail_errno(step);
  if (!is_folder && !S_ISREG(info.st_mode)) return refuse(step, "is not a regular file");
  if (!above.view.is_trusted(info.st_uid) && !is_roots(above, info.st_uid))
    return refuse(step,
                  fmt::format("belongs to user {}, neither to root nor to you", info.st_uid),
                  "use a plug-in that you or root installed");
  const bool sticky = is_folder && (info.st_mode & S_ISVTX) != 0;
  above.in_open = (info.st_mode & k_others_write) != 0;
  above.in_ours = above.in_ours || info.st_uid == above.view.self;
  if (above.in_open && !sticky)
    return refuse(step, "can be written by others", fmt::format("chmod go-w '{}'", step));
  return {};
}

}  // namespace

Result<std::string> check_plugin_file(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr),
                                                             &std::free);
  if (!resolved) return fail_errno(path);
  const std::string real = resolved.get();
  Path above{owner_view()};
  DTS_TRY(check_step("/", true, above));
  for (std::size_t slash = real.find('/', 1); slash != std::string::npos;
       slash = real.find('/', slash + 1))
    DTS_TRY(check_step(real.substr(0, slash), true, above));
  DTS_TRY(check_step(real, false, above));
  return real;
}

}  // namespace dts::plugin
