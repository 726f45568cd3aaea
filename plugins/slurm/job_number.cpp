// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm/job_number.hpp"

#include "plugins/slurm/message.hpp"

#include <nlohmann/json.hpp>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <charconv>
#include <system_error>

namespace slurm_plugin {
namespace {

// Takes the digits at the beginning of `text`; nullopt if there are none, or too many.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool is_named(const slurm_job_info_t& job, const JobName& name) {
  if (name.task) return job.array_job_id == name.number && job.array_task_id == *name.task;
  return job.het_job_id == name.number && job.het_job_offset == name.component;
}

}  // namespace

std::optional<JobName> parse_job_name(std::string_view text) {
  const auto number = take_number(text);
  if (!number || *number == 0) return std::nullopt;
  JobName name{*number};
  if (text.empty()) return name;
  const char mark = text.front();
  text.remove_prefix(1);
  const auto part = take_number(text);
  if (!part || !text.empty()) return std::nullopt;
  if (mark == '_') name.task = part;
  if (mark == '+') name.component = part;
  return mark == '_' || mark == '+' ? std::optional(name) : std::nullopt;
}

Outcome<std::uint32_t> job_number(const json& request) {
  const auto text = request.at("id").get<std::string>();
  const auto name = parse_job_name(text);
  if (!name)
    return failed(
        "invalid",
        "`" + text + "` is not a job id of Slurm",
        "one is a number, NUMBER_TASK of an array or NUMBER+OFFSET of a heterogeneous job");
  if (!name->task && !name->component) return name->number;
  job_info_msg_t* raw = nullptr;
  if (slurm_load_job(&raw, name->number, SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS)
    return failed_slurm(named_job(request));
  const Message<job_info_msg_t, slurm_free_job_info_msg> message(raw);
  for (std::uint32_t i = 0; i < message->record_count; ++i)
    if (is_named(message->job_array[i], *name)) return message->job_array[i].job_id;
  return failed_slurm(ESLURM_INVALID_JOB_ID, named_job(request));
}

std::string named_job(const json& request) {
  return "job " + request.at("id").get<std::string>();
}

}  // namespace slurm_plugin
