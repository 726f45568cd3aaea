// SPDX-License-Identifier: Apache-2.0
#include "core/run/directory/parts.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dts::run {
namespace {

constexpr const char* k_steps = "steps";
constexpr const char* k_roles = "roles";

std::string last_component(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// The folder two levels up, if the one between is a folder of parts; otherwise empty.
std::string folder_of_whole(const std::string& path) {
  const std::size_t part = path.rfind('/');
  if (part == std::string::npos || part == 0) return {};
  const std::size_t kind = path.rfind('/', part - 1);
  if (kind == std::string::npos) return {};
  const std::string folder = path.substr(kind + 1, part - kind - 1);
  return folder == k_steps || folder == k_roles ? path.substr(0, kind) : std::string();
}

}  // namespace

std::string part_folder(bool is_role, unsigned number, const std::string& name) {
  return fmt::format("{}/{}-{}", is_role ? k_roles : k_steps, number, name);
}

std::vector<PartDirectory> parts_of(const RunDirectory& run) {
  std::vector<std::pair<std::uint64_t, PartDirectory>> found;
  for (const char* kind : {k_steps, k_roles})
    for (const std::string& folder : list_folder(run.path + "/" + kind)) {
      const std::size_t dash = folder.find('-');
      if (dash == std::string::npos) continue;
      const auto number = parse_number(folder.substr(0, dash));
      RunDirectory part{run.path + "/" + kind + "/" + folder};
      if (number && is_run_directory(part.path))
        found.push_back({*number, {folder.substr(dash + 1), kind == k_roles, std::move(part)}});
    }
  std::stable_sort(
      found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<PartDirectory> parts;
  for (auto& [number, part] : found) parts.push_back(std::move(part));
  return parts;
}

std::optional<PartDirectory> part_named(const RunDirectory& run, const std::string& name) {
  for (PartDirectory& part : parts_of(run))
    if (part.name == name || last_component(part.run.path) == name ||
        part.run.path == run.path + "/" + name)
      return std::move(part);
  return std::nullopt;
}

RunDirectory whole_of(const RunDirectory& run) {
  RunDirectory whole{folder_of_whole(run.path)};
  return !whole.path.empty() && is_run_directory(whole.path) ? whole : run;
}

std::string full_name(const RunDirectory& run) {
  const std::string whole = folder_of_whole(run.path);
  return whole.empty() ? run_name(run) : run_name(RunDirectory{whole}) + "-" + run_name(run);
}

}  // namespace dts::run
