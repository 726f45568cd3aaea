// SPDX-License-Identifier: Apache-2.0
// The container that each rank's program runs in, as requested by the user. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::spec {

// Why no container is built from an environment definition file
// (core/decisions/0011-containers.md).
inline constexpr const char* k_no_definitions =
    "only srun reads environment definition files, and it kills a step's program at the SIGTERM "
    "that asks it to save: give the definition's image, mounts and variables as options";

enum class ContainerRuntime {
  automatic,  // chosen on each node: the first one installed that accepts the image
#define DTS_CONTAINER_RUNTIME(name) name,
#include "core/spec/container_runtimes.inc"
#undef DTS_CONTAINER_RUNTIME
};

// All but `automatic`, in the order in which `automatic` tries them.
[[nodiscard]] const std::vector<ContainerRuntime>& container_runtimes();

// "auto", "apptainer", ...
[[nodiscard]] const char* to_string(ContainerRuntime runtime);
[[nodiscard]] std::optional<ContainerRuntime> container_runtime_from(std::string_view name);

// A file or folder of the node, and where the program sees it.
struct ContainerMount {
  std::string source;
  std::string target;
  bool read_only = false;

  bool operator==(const ContainerMount&) const = default;
};

// An environment variable that the user passes to the program.
struct ContainerVariable {
  std::string name;
  std::optional<std::string> value{};  // absent: taken from the rank's own environment

  bool operator==(const ContainerVariable&) const = default;
};

struct Container {
  std::string image;  // a full path, or a name in a registry; empty: no container
  ContainerRuntime runtime = ContainerRuntime::automatic;
  std::vector<ContainerMount> mounts{};
  std::vector<ContainerVariable> variables{};

  bool operator==(const Container&) const = default;
};

// "SRC[:DST[:ro]]"; DST is SRC by default. Errc::invalid says what is wrong with it.
[[nodiscard]] Result<ContainerMount> parse_mount(std::string_view text);
[[nodiscard]] std::string to_text(const ContainerMount& mount);

// "NAME" or "NAME=VALUE"; errors never repeat the value.
[[nodiscard]] Result<ContainerVariable> parse_container_variable(std::string_view text);
[[nodiscard]] std::string to_text(const ContainerVariable& variable);

// Rejects what no runtime can mount at its own path: a path that is not absolute, contains
// unprintable bytes, or contains `:` or `,`, which separate fields in the runtimes' options.
[[nodiscard]] Result<void> check_mountable(std::string_view path);

// Checks that the text names an image and can be passed to every runtime as one word. Errc::invalid
// otherwise.
[[nodiscard]] Result<void> check_image(std::string_view image);

// Appends contradictions between the options, and targets that are named twice.
void check_container(const Container& container, bool has_command, Diagnostics& problems);

}  // namespace dts::spec
