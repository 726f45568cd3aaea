// SPDX-License-Identifier: Apache-2.0
// The runtimes that put a rank's program into a container: one interface, and one file per runtime.
// A new runtime needs a row in core/spec/container_runtimes.inc and its file. `dtsubmit rank`
// starts the runtime's command as if it were the program, outside of the container, so signals,
// exit code and output all pass through the runtime, which has to forward them. Pure, thread-safe.
#pragma once

#include "core/base/os/limits.hpp"
#include "core/base/result.hpp"
#include "core/launch/container/image.hpp"
#include "core/plan/plan.hpp"
#include "core/spec/container.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

enum class GpuVendor { none, nvidia, amd };

// A rank's program, and what it needs from its node.
struct ContainerOrder {
  Image image;
  std::vector<std::string> program;  // argv inside
  std::vector<spec::ContainerMount> mounts;
  std::string folder;           // working directory, which is also mounted
  plan::Environment variables;  // the rank's own; the runtime's environment holds their values
  std::vector<std::string> inherited;  // names of further variables that the program needs
  GpuVendor gpus = GpuVendor::none;
  std::vector<unsigned> gpu_numbers;  // for a daemon outside of the job's cgroup; empty: all GPUs
  std::vector<std::string> devices;   // device files besides those of GPUs, "/dev/infiniband"
  std::vector<unsigned> cpus;         // cores that the rank is bound to
  // Limits of the program. Most runtimes pass on the limits they were started with, and ignore this
  // member.
  std::vector<ResourceLimit> limits{};
  std::optional<unsigned> umask{};  // absent: inherited
  std::string name;                 // of the rank's container; the same in each attempt
  unsigned uid = 0;
  unsigned gid = 0;
  std::string file;  // where ContainerCommand::file_text is written
};

struct ContainerCommand {
  std::vector<std::string> argv;    // without the value of any variable, as every user can read it
  plan::Environment environment{};  // for the runtime, in addition to the program's
  std::string file_text{};  // written with mode 0600 to ContainerOrder::file; empty: no file
  // The command that ends a container that outlived its client; empty: none is needed.
  std::vector<std::string> removal{};
  bool remove_first = false;  // run `removal` before later attempts: the rank may have been killed
  bool sets_limits = false;   // `argv` sets the program's limits; do not set them for the runtime
};

struct ContainerType {
  const char* program;            // found in PATH where the runtime is installed
  std::vector<ImageKind> images;  // kinds that it can run; none: see `advice`
  const char* advice;             // hint about an image that it cannot run; nullptr: none
  bool pulls;                     // whether it fetches an image from its registry by itself
  bool read_only_mounts;          // whether it supports them
  // Mount points cannot be created when the program starts, so they must already exist in the
  // image. Checked only for images that are folders.
  bool needs_mount_points;
  ContainerCommand (*command)(const ContainerOrder& order);
};

#define DTS_CONTAINER_RUNTIME(name) extern const ContainerType k_##name##_runtime;
#include "core/spec/container_runtimes.inc"
#undef DTS_CONTAINER_RUNTIME

// `runtime` must not be `automatic`.
[[nodiscard]] const ContainerType& type_of(spec::ContainerRuntime runtime);

// Whether the runtime can run such an image with these mounts; Errc::invalid says why not.
[[nodiscard]] Result<void> accepts(spec::ContainerRuntime runtime,
                                   ImageKind image,
                                   const std::vector<spec::ContainerMount>& mounts);

struct RuntimeChoice {
  spec::ContainerRuntime runtime = spec::ContainerRuntime::automatic;
  std::string why;
};

// Whether a runtime is installed on this node.
using IsInstalled = std::function<bool(spec::ContainerRuntime)>;

// Returns `asked`, or for `automatic` the first installed runtime that accepts the image, and that
// can pull it if it is a registry reference. Calls `is_installed` no more often than needed.
// Errc::not_found if the runtime, or every suitable one, is not installed. The error's text is
// written to follow "n1: ".
[[nodiscard]] Result<RuntimeChoice> choose_runtime(const spec::Container& asked,
                                                   ImageKind image,
                                                   const IsInstalled& is_installed);

// True for variables of the rank's environment that a program in a container needs: MPI programs
// find their peers by them, and users control communication and threads with them.
[[nodiscard]] bool is_inherited_inside(std::string_view name);

}  // namespace dts::launch
