// SPDX-License-Identifier: Apache-2.0
#include "core/launch/container/container.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dts::launch {

using spec::ContainerRuntime;

namespace {

constexpr const char* k_other_runtime = "choose another --container-runtime, or convert the image";

}  // namespace

const ContainerType& type_of(ContainerRuntime runtime) {
  switch (runtime) {
#define DTS_CONTAINER_RUNTIME(name) \
  case ContainerRuntime::name:      \
    return k_##name##_runtime;
#include "core/spec/container_runtimes.inc"
#undef DTS_CONTAINER_RUNTIME
    case ContainerRuntime::automatic:
      break;
  }
  return k_apptainer_runtime;
}

Result<void> accepts(ContainerRuntime runtime,
                     ImageKind image,
                     const std::vector<spec::ContainerMount>& mounts) {
  const ContainerType& type = type_of(runtime);
  if (std::find(type.images.begin(), type.images.end(), image) == type.images.end())
    return fail(Errc::invalid,
                fmt::format("{} cannot run {}", spec::to_string(runtime), to_words(image)),
                type.advice != nullptr ? type.advice : k_other_runtime);
  const auto read_only = std::find_if(
      mounts.begin(), mounts.end(), [](const spec::ContainerMount& one) { return one.read_only; });
  if (read_only != mounts.end() && !type.read_only_mounts)
    return fail(
        Errc::invalid,
        fmt::format("{} cannot mount {} read-only", spec::to_string(runtime), read_only->source),
        "omit :ro, or choose another --container-runtime");
  return {};
}

Result<RuntimeChoice> choose_runtime(const spec::Container& asked,
                                     ImageKind image,
                                     const IsInstalled& is_installed) {
  if (asked.runtime != ContainerRuntime::automatic) {
    DTS_TRY(accepts(asked.runtime, image, asked.mounts));
    if (is_installed(asked.runtime)) return RuntimeChoice{asked.runtime, "as requested"};
    return fail(Errc::not_found,
                fmt::format("{} is not installed", spec::to_string(asked.runtime)),
                "install it on the node, load its module, or omit --container-runtime");
  }
  std::vector<std::string> missing;
  std::vector<std::string> unfit;
  for (const ContainerRuntime runtime : spec::container_runtimes()) {
    if (image == ImageKind::reference && !type_of(runtime).pulls) continue;
    if (const auto fit = accepts(runtime, image, asked.mounts); !fit) {
      unfit.push_back(fit.error().message);
      continue;
    }
    if (is_installed(runtime))
      return RuntimeChoice{
          runtime,
          "auto: " + (missing.empty() ? "it is installed" : "no " + join(missing, ", no "))};
    missing.emplace_back(spec::to_string(runtime));
  }
  if (missing.empty())
    return fail(
        Errc::invalid,
        fmt::format("no container runtime can run {}: {}", to_words(image), join(unfit, ", ")),
        image == ImageKind::edf ? type_of(ContainerRuntime::edf).advice : k_other_runtime);
  return fail(Errc::not_found,
              fmt::format("no container runtime is installed that can run {}: no {}",
                          to_words(image),
                          join(missing, ", no ")),
              "install one on the node, or load its module");
}

bool is_inherited_inside(std::string_view name) {
  constexpr std::array<std::string_view, 13> k_prefixes{"SLURM_",
                                                        "OMPI_",
                                                        "PMIX_",
                                                        "PMI_",
                                                        "PRTE_",
                                                        "NCCL_",
                                                        "RCCL_",
                                                        "GLOO_",
                                                        "UCX_",
                                                        "FI_",
                                                        "OMP_",
                                                        "KMP_",
                                                        "DTSUBMIT_"};
  return std::any_of(k_prefixes.begin(), k_prefixes.end(), [name](std::string_view prefix) {
    return name.starts_with(prefix);
  });
}

}  // namespace dts::launch
