// SPDX-License-Identifier: Apache-2.0
// Records of job arrays. Slurm has one for all tasks of an array that wait, and splits one off for
// each task that starts, or that an order concerns.
#pragma once

#include <slurm/slurm.h>

#include <cstdint>
#include <string>

namespace slurm_plugin {

// The indices of the waiting tasks that a record stands for, "3-9,12"; empty for any other record.
[[nodiscard]] std::string waiting_tasks(const slurm_job_info_t& job);

// True for the record of that task, or the one that it waits in.
[[nodiscard]] bool has_task(const slurm_job_info_t& job, std::uint32_t task);

// As people and we name the job: "4711", or "4711_3" for a task of its own.
[[nodiscard]] std::string name_of(const slurm_job_info_t& job);

}  // namespace slurm_plugin
