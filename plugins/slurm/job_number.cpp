// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm/job_number.hpp"

#include "plugins/slurm/array_tasks.hpp"
#include "plugins/slurm/failure.hpp"
#include "plugins/slurm/message.hpp"
#include "plugins/slurm/releases.hpp"

#include <nlohmann/json.hpp>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <map>
#include <mutex>
#include <optional>

namespace slurm_plugin {
namespace {

bool is_named(const slurm_job_info_t& job, const JobName& name) {
  if (name.task) return job.array_job_id == name.number && has_task(job, *name.task);
  return job.het_job_id == name.number && job.het_job_offset == name.component;
}

// Numbers of tasks that have their own record. Cached because an agent queries its own job
// repeatedly, and the record of a whole array may be large.
class KnownTasks {
 public:
  std::optional<std::uint32_t> find(const std::string& text) {
    const std::lock_guard lock(mutex_);
    const auto known = numbers_.find(text);
    return known == numbers_.end() ? std::nullopt : std::optional(known->second);
  }

  void add(const std::string& text, std::uint32_t number) {
    const std::lock_guard lock(mutex_);
    numbers_[text] = number;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint32_t> numbers_;
};

KnownTasks& known_tasks() {
  static KnownTasks known;
  return known;
}

}  // namespace

Outcome<std::uint32_t> job_number(const json& request) {
  const auto text = request.at("id").get<std::string>();
  const auto name = job_name(request);
  if (!name) return tl::unexpected<Failure>(name.error());
  if (!name->task && !name->component) return name->number;
  if (const auto known = known_tasks().find(text)) return *known;
  job_info_msg_t* raw = nullptr;
  if (slurm_load_job(&raw, JobArgument(name->number), SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS)
    return failed_slurm(named_job(request));
  const Message<job_info_msg_t, slurm_free_job_info_msg> message(raw);
  for (std::uint32_t i = 0; i < message->record_count; ++i)
    if (const slurm_job_info_t& job = message->job_array[i]; is_named(job, *name)) {
      if (job.array_task_id != NO_VAL) known_tasks().add(text, number_in(job));
      return number_in(job);
    }
  return failed_slurm(ESLURM_INVALID_JOB_ID, named_job(request));
}

}  // namespace slurm_plugin
