// SPDX-License-Identifier: Apache-2.0
#include "core/launch/container/step_options.hpp"

#include <algorithm>

namespace dts::launch {
namespace {

// "0x0C", as --cpu-bind=mask_cpu takes it.
std::string mask_of(const std::vector<unsigned>& cpus) {
  std::string digits(1 + *std::max_element(cpus.begin(), cpus.end()) / 4, '0');
  constexpr const char* k_digits = "0123456789ABCDEF";
  for (const unsigned cpu : cpus) {
    char& digit = digits[digits.size() - 1 - cpu / 4];
    const auto value = static_cast<unsigned>(std::string(k_digits).find(digit));
    digit = k_digits[value | (1U << (cpu % 4))];
  }
  return "0x" + digits;
}

}  // namespace

std::vector<std::string> step_of_program(const ContainerOrder& order) {
  std::vector<std::string> words{
      "srun",
      "--overlap",
      "--nodes=1",
      "--ntasks=1",
      "--ntasks-per-node=1",
      "--nodelist=" + order.node,
      "--job-name=" + order.name,
      order.cpus.empty() ? "--cpu-bind=none" : "--cpu-bind=mask_cpu:" + mask_of(order.cpus),
      "--mpi=none",
      "--export=ALL",
      "--input=none",
      "--unbuffered"};
  if (order.gpus != GpuVendor::none) words.emplace_back("--gpu-bind=none");
  return words;
}

std::vector<std::string> end_of_step(const ContainerOrder& order) {
  constexpr const char* k_script =
      R"(while :; do
  found=$(squeue --steps --noheader --jobs="$SLURM_JOB_ID" --format='%i %j' |
          while read -r id name; do if [ "$name" = "$0" ]; then echo "$id"; fi; done)
  [ -n "$found" ] || break
  scancel --signal=KILL $found
  sleep 0.5
done)";
  return {"sh", "-c", k_script, order.name};
}

std::vector<std::string> mount_texts(const ContainerOrder& order) {
  std::vector<std::string> texts;
  for (const spec::ContainerMount& mount : order.mounts) texts.push_back(to_text(mount));
  return texts;
}

}  // namespace dts::launch
