// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm/array_tasks.hpp"

#include "plugins/slurm/releases.hpp"

// Exported by every libslurm with job arrays, but not declared in its header. Weak, in case one
// lacks them: a record is then assumed to cover all tasks of its array.
extern "C" {
[[gnu::weak]] int slurm_bit_test(bitstr_t* bits, bitoff_t bit);
[[gnu::weak]] bitoff_t slurm_bit_size(bitstr_t* bits);
[[gnu::weak]] char* slurm_bit_fmt(char* text, std::int32_t length, bitstr_t* bits);
}

namespace slurm_plugin {
namespace {

constexpr std::size_t k_longest_item = 8;  // "4000000,"

bool is_meta(const slurm_job_info_t& job) {
  return job.array_job_id != 0 && job.array_task_id == NO_VAL && job.array_bitmap != nullptr;
}

}  // namespace

std::string waiting_tasks(const slurm_job_info_t& job) {
  if (!is_meta(job) || slurm_bit_size == nullptr || slurm_bit_fmt == nullptr) return {};
  const auto size = static_cast<std::size_t>(slurm_bit_size(job.array_bitmap));
  std::string text(size * k_longest_item + 1, '\0');
  slurm_bit_fmt(text.data(), static_cast<std::int32_t>(text.size()), job.array_bitmap);
  text.resize(text.find('\0'));
  return text;
}

bool has_task(const slurm_job_info_t& job, std::uint32_t task) {
  if (!is_meta(job)) return job.array_task_id == task;
  if (slurm_bit_size == nullptr || slurm_bit_test == nullptr) return true;
  return task < slurm_bit_size(job.array_bitmap) && slurm_bit_test(job.array_bitmap, task) != 0;
}

std::string name_of(const slurm_job_info_t& job) {
  if (job.array_job_id == 0 || job.array_task_id == NO_VAL) return std::to_string(number_in(job));
  return std::to_string(job.array_job_id) + "_" + std::to_string(job.array_task_id);
}

}  // namespace slurm_plugin
