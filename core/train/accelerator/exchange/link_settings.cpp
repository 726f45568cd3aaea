// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/exchange/link_settings.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/text/text.hpp"

#include <pwd.h>
#include <unistd.h>

namespace dts::train::accelerator {
namespace {

constexpr std::uint64_t k_largest_file = 1 << 20;

void add(std::string_view line, LinkSettings& settings) {
  const auto end = line.find('=');
  const std::string_view name = line.substr(0, end);
  if (end != std::string_view::npos && name.starts_with("NCCL_") && name != "NCCL_HOSTID")
    settings.try_emplace(std::string(name), line.substr(end + 1));
}

// Found as NCCL does it, without HOME.
std::string file_of_user(const LinkSettings& settings) {
  const auto named = settings.find("NCCL_CONF_FILE");
  if (named != settings.end() && !named->second.empty()) return named->second;
  const passwd* const user = ::getpwuid(::getuid());
  return user == nullptr ? "" : std::string(user->pw_dir) + "/.nccl.conf";
}

}  // namespace

void add_file_settings(std::string_view text, LinkSettings& settings) {
  for (const std::string& line : split(text, '\n')) add(line, settings);  // ignores "#NCCL_..."
}

LinkSettings link_settings_here() {
  LinkSettings all;
  for (const std::string& entry : environment_entries()) add(entry, all);
  for (const std::string& path : {file_of_user(all), std::string("/etc/nccl.conf")})
    if (const auto text = read_file(path, k_largest_file)) add_file_settings(*text, all);
  return all;
}

}  // namespace dts::train::accelerator
