// SPDX-License-Identifier: Apache-2.0
// golden_container FOLDER [--bless]: what each container runtime is started with, against FOLDER's
// files. Options are as in the manuals that the runtimes' files name.
#include "core/launch/container/container.hpp"

#include "tests/golden/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace dts::launch {
namespace {

Image image_of(ImageKind kind) {
  switch (kind) {
    case ImageKind::folder:
      return {kind, "/images/root"};
    case ImageKind::file:
      return {kind, "/images/torch.sif"};
    case ImageKind::squashfs:
      return {kind, "/images/torch.sqsh"};
    case ImageKind::edf:
      return {kind, "/home/u/torch.toml"};
    case ImageKind::reference:
      return {kind, "nvcr.io/nvidia/pytorch:24.01-py3"};
    case ImageKind::other:
      break;
  }
  return {kind, "oras://ghcr.io/lab/torch:2"};
}

ContainerOrder order_of(ImageKind kind, GpuVendor gpus) {
  ContainerOrder order;
  order.image = image_of(kind);
  order.program = {"python3", "-u", "train.py", "--lr", "0.1"};
  order.mounts = {{"/datasets", "/data", true},
                  {"/dev/shm/dtsubmit-1000-ab", "/dev/shm/dtsubmit-1000-ab", false},
                  {"/home/u", "/home/u", false}};
  order.folder = "/home/u";
  order.variables = {{"RANK", "3"}, {"WORLD_SIZE", "16"}, {"HF_TOKEN", "se\"cret$1"}};
  order.inherited = {"SLURM_JOB_ID", "UCX_TLS"};
  order.gpus = gpus;
  if (gpus != GpuVendor::none) order.devices = {"/dev/infiniband"};
  if (gpus == GpuVendor::nvidia) order.gpu_numbers = {4, 5};
  order.cpus = {8, 9, 10, 11};
  order.name = "dtsubmit-0123456789abcdef-3";
  order.uid = gpus == GpuVendor::amd ? 0 : 1000;
  order.gid = 100;
  order.file = "/dev/shm/dtsubmit-1000-ab/rank-3.rc";
  return order;
}

std::string rendered(const ContainerType& type, const ContainerOrder& order, const char* what) {
  const ContainerCommand command = type.command(order);
  std::string text = fmt::format("== {}, {}\n", to_words(order.image.kind), what);
  for (const std::string& word : command.argv) text += word + "\n";
  for (const auto& [name, value] : command.environment)
    text += fmt::format("environment {}={}\n", name, value);
  if (!command.file_text.empty()) text += fmt::format("file {}\n{}", order.file, command.file_text);
  if (!command.removal.empty())
    text += fmt::format("removal {}\n", fmt::join(command.removal, " "));
  return text + "\n";
}

std::string rendered(const ContainerType& type, ImageKind kind, GpuVendor gpus) {
  constexpr const char* k_gpus[] = {"no GPUs", "NVIDIA", "AMD"};
  return rendered(type, order_of(kind, gpus), k_gpus[static_cast<int>(gpus)]);
}

// With devices, for which there is a limit of ours.
std::string rendered_with_limits(const ContainerType& type, ImageKind kind) {
  ContainerOrder order = order_of(kind, GpuVendor::nvidia);
  for (const char* text : {"nofile=321:654", "core=0", "memlock=8M:unlimited", "as=4G:8G"})
    order.limits.push_back(*parse_resource_limit(text));
  order.umask = 027;
  return rendered(type, order, "limits and a umask");
}

golden::Files all_files() {
  golden::Files files;
  for (const spec::ContainerRuntime runtime : spec::container_runtimes()) {
    const ContainerType& type = type_of(runtime);
    if (type.images.empty()) continue;  // refused
    std::string text;
    for (const ImageKind kind : type.images) text += rendered(type, kind, GpuVendor::none);
    for (const GpuVendor gpus : {GpuVendor::nvidia, GpuVendor::amd})
      text += rendered(type, type.images.back(), gpus);
    text += rendered_with_limits(type, type.images.back());
    files.emplace_back(std::string(spec::to_string(runtime)) + ".txt", text);
  }
  return files;
}

}  // namespace
}  // namespace dts::launch

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const bool bless = argc > 2 && std::string_view(argv[2]) == "--bless";
  return dts::golden::compare(argv[1], dts::launch::all_files(), bless);
}
