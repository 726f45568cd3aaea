// SPDX-License-Identifier: Apache-2.0
// Records of job arrays. Slurm keeps one record for all pending tasks of an array, and splits one
// off for each task that starts or is addressed individually.
#pragma once

#include <slurm/slurm.h>

#include <cstdint>
#include <string>

namespace slurm_plugin {

// The indices of the waiting tasks that a record stands for, "3-9,12"; empty for any other record.
[[nodiscard]] std::string waiting_tasks(const slurm_job_info_t& job);

// True if the record is that of the task, or the one in which it is pending.
[[nodiscard]] bool has_task(const slurm_job_info_t& job, std::uint32_t task);

// The job's name for users and for us: "4711", or "4711_3" for a task of its own.
[[nodiscard]] std::string name_of(const slurm_job_info_t& job);

}  // namespace slurm_plugin
