// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/templates.hpp"

#include "cli/commands/config_files.hpp"
#include "core/base/files/files.hpp"
#include "core/base/files/trusted_file.hpp"
#include "core/script/sbatch.hpp"

#include <map>

namespace dts::cli {
namespace {

constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 20;
constexpr std::string_view k_ending = ".mustache";

// Earlier folders override later ones.
std::vector<std::string> template_folders() {
  std::vector<std::string> folders;
  if (const auto user = user_folder()) folders.push_back(*user + "/templates");
  folders.push_back(site_folder() + "/templates");
  return folders;
}

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash + 1);
}

// Only plain file names, not paths: a template cannot reach outside its folders.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos;
}

Result<std::optional<script::Template>> in_folder(const std::string& folder,
                                                  const std::string& name) {
  const std::string path = folder + "/" + name + std::string(k_ending);
  auto text = read_trusted_file(path, k_most_bytes);
  if (text) return script::Template{path, *std::move(text)};
  if (text.error().code == Errc::not_found) return std::nullopt;
  return tl::unexpected<Error>(std::move(text).error());
}

}  // namespace

script::Partials templates_on_disk(const std::string& file) {
  return [file](const std::string& name) -> Result<std::optional<script::Template>> {
    if (!file.empty() && name == file) {
      DTS_ASSIGN(std::string text, read_regular_file(file, k_most_bytes));
      return script::Template{file, std::move(text)};
    }
    if (!is_plain_name(name)) return std::nullopt;
    std::vector<std::string> folders = template_folders();
    if (!file.empty()) folders.insert(folders.begin(), folder_of(file));
    for (const std::string& folder : folders) {
      DTS_ASSIGN(auto found, in_folder(folder, name));
      if (found) return found;
    }
    return std::nullopt;
  };
}

bool is_template_file(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(k_ending);
}

std::vector<std::pair<std::string, std::string>> all_templates() {
  std::map<std::string, std::string> all;
  for (const std::string& folder : template_folders())
    for (const std::string& file : list_folder(folder))
      if (file.ends_with(k_ending))
        all.emplace(file.substr(0, file.size() - k_ending.size()), folder + "/" + file);
  for (const std::string& name : script::builtin_template_names()) all.emplace(name, "built in");
  return {all.begin(), all.end()};
}

}  // namespace dts::cli
