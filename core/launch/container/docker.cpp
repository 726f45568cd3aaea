// SPDX-License-Identifier: Apache-2.0
// Docker: its daemon starts the program outside of the job's control groups. Therefore cores and
// GPUs are given by number, the user by uid and limits by options, and a container whose client was
// killed has to be removed. https://docs.docker.com/reference/cli/docker/container/run/
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/container/oci_options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {
namespace {

// Docker needs the quotes: --gpus is a CSV value, in which a comma would end the field.
std::string docker_gpus(const std::vector<unsigned>& numbers) {
  if (numbers.empty()) return "--gpus=all";
  std::vector<std::string> words;
  for (const unsigned number : numbers) words.push_back(std::to_string(number));
  return "--gpus=\"device=" + join(words, ",") + "\"";
}

ContainerCommand by_docker(const ContainerOrder& asked) {
  ContainerOrder order = asked;
  order.program = prepared_program(order, InShell::limits_and_umask);
  ContainerCommand command;
  command.argv = {"docker", "run"};
  const auto add = [&command](const std::vector<std::string>& words) {
    command.argv.insert(command.argv.end(), words.begin(), words.end());
  };
  add(oci_options(order));
  // A program that is process 1 of a PID namespace ignores signals for which it has no handler.
  add({"--pid=host", fmt::format("--user={}:{}", order.uid, order.gid)});
  if (!order.cpus.empty()) add({"--cpuset-cpus=" + fold_numbers(order.cpus)});
  if (order.gpus == GpuVendor::nvidia) add({docker_gpus(order.gpu_numbers)});
  add(oci_devices(order));
  add(oci_limits(order));
  const bool has_memlock =
      std::any_of(order.limits.begin(), order.limits.end(), [](const ResourceLimit& limit) {
        return limit.resource == RLIMIT_MEMLOCK;
      });
  if (!order.devices.empty() && !has_memlock) add({"--ulimit=memlock=-1"});
  add({order.image.name});
  add({order.program.begin() + 1, order.program.end()});
  command.removal = {"docker", "rm", "--force", order.name};
  command.remove_first = true;
  command.sets_limits = true;
  return command;
}

}  // namespace

const ContainerType k_docker_runtime{
    "docker", {ImageKind::reference}, nullptr, true, true, false, by_docker};

}  // namespace dts::launch
