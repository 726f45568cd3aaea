// SPDX-License-Identifier: Apache-2.0
// The runtimes that put a rank's program into a container: one interface, a file for each of them.
// A new runtime is a row of core/spec/container_runtimes.inc and its file. `dtsubmit rank` starts
// the command as if it were the program, outside of the container: so its signals, its exit code
// and its output are the runtime's, which has to pass them on. Pure, thread-safe.
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

// One rank's program and what it needs of its node.
struct ContainerOrder {
  Image image;
  std::vector<std::string> program;  // argv inside
  std::vector<spec::ContainerMount> mounts;
  std::string folder;           // the working directory, which is mounted
  plan::Environment variables;  // of the rank; their values are in the runtime's own environment
  std::vector<std::string> inherited;  // further names that the program needs
  GpuVendor gpus = GpuVendor::none;
  std::vector<unsigned> gpu_numbers;  // for a daemon outside of the job's limits; empty: all
  std::vector<std::string> devices;   // beside GPUs, "/dev/infiniband"
  std::vector<unsigned> cpus;         // that the rank is bound to
  // Of the program. Most runtimes hand down those that they are started with, and so do not look.
  std::vector<ResourceLimit> limits{};
  std::optional<unsigned> umask{};  // absent: as it is
  std::string name;                 // of the rank's container, the same in each attempt
  unsigned uid = 0;
  unsigned gid = 0;
  std::string file;  // where `file_text` goes
};

struct ContainerCommand {
  std::vector<std::string> argv;    // without a value of any variable: anybody can read it
  plan::Environment environment{};  // of the runtime, beside the program's
  std::string file_text{};  // for a file with mode 0600 at ContainerOrder::file; empty: none
  // Ends a container that outlives its client; empty: nothing does.
  std::vector<std::string> removal{};
  bool remove_first = false;  // before an attempt that is not the first: its rank was killed too
  bool sets_limits = false;   // the program's are in `argv`, and not for the runtime itself
};

struct ContainerType {
  const char* program;            // in PATH where the runtime is installed
  std::vector<ImageKind> images;  // that it can run; none: see `advice`
  const char* advice;             // for an image that it cannot run; nullptr: nothing particular
  bool pulls;                     // fetches an image from its registry by itself
  bool read_only_mounts;          // whether it has them
  // The program runs in a file system that nobody can add mount points to, so that they have to be
  // there before; only for images that are folders.
  bool needs_mount_points;
  ContainerCommand (*command)(const ContainerOrder& order);
};

#define DTS_CONTAINER_RUNTIME(name) extern const ContainerType k_##name##_runtime;
#include "core/spec/container_runtimes.inc"
#undef DTS_CONTAINER_RUNTIME

// Not of `automatic`.
[[nodiscard]] const ContainerType& type_of(spec::ContainerRuntime runtime);

// Whether the runtime can run this; Errc::invalid says why not.
[[nodiscard]] Result<void> accepts(spec::ContainerRuntime runtime,
                                   ImageKind image,
                                   const std::vector<spec::ContainerMount>& mounts);

struct RuntimeChoice {
  spec::ContainerRuntime runtime = spec::ContainerRuntime::automatic;
  std::string why;
};

// Whether a runtime is installed on this node.
using IsInstalled = std::function<bool(spec::ContainerRuntime)>;

// `asked`, or for `automatic` the first that accepts the image, can fetch it if it is a name in a
// registry, and is installed. Asks no more than it must. Errc::not_found: it is not installed, or
// none is; the error's text follows "n1: ".
[[nodiscard]] Result<RuntimeChoice> choose_runtime(const spec::Container& asked,
                                                   ImageKind image,
                                                   const IsInstalled& is_installed);

// Variables of the rank's own environment that a program in a container needs: those by which MPI
// programs find their peers, and those by which users direct communication and threads.
[[nodiscard]] bool is_inherited_inside(std::string_view name);

}  // namespace dts::launch
