// SPDX-License-Identifier: Apache-2.0
#include "core/lint/script/job.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/spec/gres.hpp"

#include <algorithm>

namespace dts::lint {
namespace {

std::optional<std::uint64_t> number_in(const Header& header, std::string_view name) {
  const Directive* found = find_directive(header, name);
  return found == nullptr ? std::nullopt : parse_number(found->value);
}

// The count in "4", "a100:4" or "a100" (one). "gpu" has been removed.
std::optional<std::uint64_t> count_of(const std::string& item) {
  const std::size_t colon = item.rfind(':');
  const std::string last = colon == std::string::npos ? item : item.substr(colon + 1);
  if (const auto number = parse_number(last)) return number;
  if (last.find_first_of("{<$*") != std::string::npos) return std::nullopt;
  return 1;
}

std::optional<std::uint64_t> memory_in(const Header& header, std::string_view name) {
  const Directive* found = find_directive(header, name);
  const auto size = found == nullptr ? std::nullopt : std::optional(parse_memory_mib(found->value));
  return size && *size && **size > 0 ? std::optional(**size) : std::nullopt;
}

bool asks_for_no_gpus(const Header& header) {
  for (const char* name : {"gpus", "gpus-per-node", "gpus-per-task"})
    if (const Directive* one = find_directive(header, name);
        one != nullptr && count_of(one->value) == 0U)
      return true;
  const Directive* gres = find_directive(header, "gres");
  if (gres == nullptr) return false;
  const auto gpus = spec::split_gres(gres->value).gpus;
  return !gpus.empty() && std::all_of(gpus.begin(), gpus.end(), [](const std::string& one) {
    return count_of(one) == 0U;
  });
}

void read_gpus(const Header& header, Job& job) {
  job.asks_for_no_gpus = asks_for_no_gpus(header);
  for (const char* name : {"gpus-per-node", "gpus", "gpus-per-task", "gpus-per-socket"})
    job.has_gpus = job.has_gpus || find_directive(header, name) != nullptr;
  if (const Directive* per_task = find_directive(header, "gpus-per-task"))
    job.gpus_per_task = gpus_in(per_task->value, false);
  if (const Directive* total = find_directive(header, "gpus")) {
    job.gpus = gpus_in(total->value, false);
    if (job.nodes == 1) job.gpus_per_node = job.gpus;
  }
  if (const Directive* gres = find_directive(header, "gres");
      gres != nullptr && gres->value.find("gpu") != std::string::npos) {
    job.has_gpus = true;
    job.gpus_per_node = gpus_in(gres->value, true);
  }
  if (const Directive* per_node = find_directive(header, "gpus-per-node"))
    job.gpus_per_node = gpus_in(per_node->value, false);
}

}  // namespace

std::optional<std::uint64_t> gpus_in(const std::string& text, bool is_gres) {
  std::uint64_t sum = 0;
  const auto items = is_gres ? spec::split_gres(text).gpus : split(text, ',');
  for (const std::string& item : items) {
    const auto count = item.empty() ? 1 : count_of(item);
    if (!count || *count > 1'000'000) return std::nullopt;
    sum += *count;
  }
  return sum == 0 ? std::nullopt : std::optional(sum);
}

std::optional<std::uint64_t> Job::tasks_on_node() const {
  if (ntasks_per_node) return ntasks_per_node;
  if (!ntasks) return 1;
  if (!nodes || *nodes == 0) return ntasks == 1 ? ntasks : std::nullopt;
  return (*ntasks + *nodes - 1) / *nodes;
}

bool Job::has_many_tasks() const {
  return has_many_nodes() || ntasks.value_or(1) > 1 || ntasks_per_node.value_or(1) > 1;
}

Job job_of(const Header& header) {
  Job job;
  job.nodes = number_in(header, "nodes");
  job.ntasks = number_in(header, "ntasks");
  job.ntasks_per_node = number_in(header, "ntasks-per-node");
  if (!job.ntasks_per_node) job.ntasks_per_node = number_in(header, "tasks-per-node");
  job.cpus_per_task = number_in(header, "cpus-per-task");
  job.ntasks_per_gpu = number_in(header, "ntasks-per-gpu");
  job.mem_per_node = memory_in(header, "mem");
  job.mem_per_cpu = memory_in(header, "mem-per-cpu");
  if (const Directive* time = find_directive(header, "time"))
    if (const auto limit = parse_time_limit(time->value)) job.time = *limit;
  job.is_exclusive = find_directive(header, "exclusive") != nullptr;
  job.is_array = find_directive(header, "array") != nullptr;
  read_gpus(header, job);
  if (const auto tasks = job.tasks_on_node(); !job.gpus_per_node && job.gpus_per_task && tasks)
    job.gpus_per_node = *job.gpus_per_task * *tasks;
  return job;
}

}  // namespace dts::lint
