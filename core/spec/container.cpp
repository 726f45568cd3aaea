// SPDX-License-Identifier: Apache-2.0
#include "core/spec/container.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/base/variable_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace dts::spec {
namespace {

constexpr std::size_t k_longest_path = 4'096;       // PATH_MAX
constexpr std::size_t k_longest_variable = 65'536;  // half of MAX_ARG_STRLEN

bool is_text(std::string_view text) {
  return is_printable(text) && is_utf8(text);
}

bool has_parent_step(std::string_view path) {
  const auto steps = split(path, '/');
  return std::find(steps.begin(), steps.end(), "..") != steps.end();
}

// Mount points of the kernel's own file systems: a mount there would hide them from the program.
bool is_of_the_kernel(std::string_view target) {
  for (const std::string_view folder : {"/proc", "/sys"})
    if (target == folder || target.starts_with(std::string(folder) + "/")) return true;
  return target == "/dev" || target.find_first_not_of('/') == std::string_view::npos;
}

// File name extensions that mark a file even without a slash.
bool looks_like_a_file(std::string_view image) {
  constexpr std::array<std::string_view, 6> k_endings{
      ".sif", ".simg", ".sqsh", ".sqfs", ".squashfs", ".toml"};
  return image.starts_with('.') || image.starts_with('~') ||
         std::any_of(k_endings.begin(), k_endings.end(), [image](std::string_view ending) {
           return image.ends_with(ending);
         });
}

}  // namespace

const std::vector<ContainerRuntime>& container_runtimes() {
  static const std::vector<ContainerRuntime> all{
#define DTS_CONTAINER_RUNTIME(name) ContainerRuntime::name,
#include "core/spec/container_runtimes.inc"
#undef DTS_CONTAINER_RUNTIME
  };
  return all;
}

const char* to_string(ContainerRuntime runtime) {
  switch (runtime) {
#define DTS_CONTAINER_RUNTIME(name) \
  case ContainerRuntime::name:      \
    return #name;
#include "core/spec/container_runtimes.inc"
#undef DTS_CONTAINER_RUNTIME
    case ContainerRuntime::automatic:
      break;
  }
  return "auto";
}

std::optional<ContainerRuntime> container_runtime_from(std::string_view name) {
  if (name == "auto") return ContainerRuntime::automatic;
  for (const ContainerRuntime runtime : container_runtimes())
    if (name == to_string(runtime)) return runtime;
  return std::nullopt;
}

Result<void> check_mountable(std::string_view path) {
  if (path.empty()) return fail(Errc::invalid, "the path is empty");
  if (!is_text(path))
    return fail(Errc::invalid,
                "the path contains a byte that is not part of a printable UTF-8 character");
  if (path.size() > k_longest_path)
    return fail(Errc::invalid, fmt::format("the path is longer than {} bytes", k_longest_path));
  if (path[0] != '/')
    return fail(Errc::invalid, fmt::format("`{}` is not a full path", path), "begin it with /");
  if (path.find_first_of(":,") != std::string_view::npos)
    return fail(Errc::invalid,
                fmt::format("`{}` contains `:` or `,`, which separate the fields of a mount", path),
                "use a symbolic link without them");
  return {};
}

Result<ContainerMount> parse_mount(std::string_view text) {
  const std::vector<std::string> fields = split(text, ':');
  if (fields.size() > 3)
    return fail(Errc::invalid,
                "a mount has at most three fields",
                "SRC[:DST[:ro]]; a path cannot contain `:`");
  ContainerMount mount{fields.at(0), fields.size() > 1 ? fields[1] : fields[0], false};
  if (fields.size() == 2 && (fields[1] == "ro" || fields[1] == "rw"))
    return fail(Errc::invalid,
                fmt::format("`{}` stands where the path in the container belongs", fields[1]),
                fmt::format("write {0}:{0}:{1}", fields[0], fields[1]));
  if (fields.size() == 3 && fields[2] != "ro" && fields[2] != "rw")
    return fail(Errc::invalid, "the third field of a mount must be ro or rw");
  mount.read_only = fields.size() == 3 && fields[2] == "ro";
  DTS_TRY(check_mountable(mount.source));
  DTS_TRY(check_mountable(mount.target));
  if (has_parent_step(mount.target))
    return fail(Errc::invalid, fmt::format("`{}` contains `..`", mount.target));
  if (is_of_the_kernel(mount.target))
    return fail(Errc::invalid,
                fmt::format("`{}` cannot be mounted over", mount.target),
                "choose another path in the container");
  return mount;
}

std::string to_text(const ContainerMount& mount) {
  return fmt::format("{}:{}{}", mount.source, mount.target, mount.read_only ? ":ro" : "");
}

Result<ContainerVariable> parse_container_variable(std::string_view text) {
  const std::size_t equals = text.find('=');
  ContainerVariable variable{std::string(text.substr(0, equals))};
  if (!is_variable_name(variable.name))
    return fail(Errc::invalid,
                is_text(variable.name) ? fmt::format("`{}` is not a variable's name", variable.name)
                                       : "the variable's name contains an unprintable byte",
                "NAME or NAME=VALUE");
  if (variable.name.starts_with("DTSUBMIT_"))
    return fail(Errc::invalid, fmt::format("{} is set by dtsubmit itself", variable.name));
  if (equals == std::string_view::npos) return variable;
  variable.value = std::string(text.substr(equals + 1));
  if (variable.value->find('\0') != std::string::npos || !is_utf8(*variable.value))
    return fail(Errc::invalid,
                fmt::format("the value of {} is not UTF-8 without NUL bytes", variable.name));
  if (variable.value->size() > k_longest_variable)
    return fail(
        Errc::invalid,
        fmt::format("the value of {} is longer than {} bytes", variable.name, k_longest_variable),
        "put it in a file");
  return variable;
}

std::string to_text(const ContainerVariable& variable) {
  return variable.value ? variable.name + "=" + *variable.value : variable.name;
}

Result<void> check_image(std::string_view image) {
  if (image.empty()) return fail(Errc::invalid, "the image's name is empty");
  if (!is_text(image))
    return fail(Errc::invalid, "contains a byte that is not part of a printable UTF-8 character");
  if (image.find(' ') != std::string_view::npos || image.starts_with('-') ||
      image.size() > k_longest_path)
    return fail(Errc::invalid, fmt::format("`{}` is not an image", image.substr(0, 80)));
  if (image.starts_with('/')) return check_mountable(image);
  if (image.find("://") != std::string_view::npos) return {};
  if (looks_like_a_file(image))
    return fail(
        Errc::invalid,
        fmt::format("`{}` is a relative path, which every node would look up for itself", image),
        "give its full path");
  if (image.find(',') != std::string_view::npos || image.starts_with(':'))
    return fail(Errc::invalid, fmt::format("`{}` is not an image", image));
  return {};
}

void check_container(const Container& container, bool has_command, Diagnostics& problems) {
  if (container.image.empty()) {
    const auto needs = [&](bool is_set, const char* option) {
      if (is_set) problems.push_back({option, "needs --container IMAGE"});
    };
    needs(container.runtime != ContainerRuntime::automatic, "--container-runtime");
    needs(!container.mounts.empty(), "--mount");
    needs(!container.variables.empty(), "--container-env");
    return;
  }
  if (container.image.ends_with(".toml"))
    problems.push_back({"--container",
                        fmt::format("{} is an environment definition file", container.image),
                        k_no_definitions});
  else if (container.runtime == ContainerRuntime::edf)
    problems.push_back({"--container-runtime",
                        "edf is for environment definition files, which are refused",
                        k_no_definitions});
  if (!has_command)
    problems.push_back({"--container",
                        "the bundled trainer is not in the image",
                        "name a program of the image after --"});
  std::set<std::string> targets;
  for (const ContainerMount& mount : container.mounts)
    if (!targets.insert(mount.target).second)
      problems.push_back({"--mount", fmt::format("{} is mounted over twice", mount.target)});
  std::set<std::string> names;
  for (const ContainerVariable& variable : container.variables)
    if (!names.insert(variable.name).second)
      problems.push_back({"--container-env", fmt::format("{} is given twice", variable.name)});
}

}  // namespace dts::spec
