// SPDX-License-Identifier: Apache-2.0
// Operations on one job: cancel, requeue, signal.
#include "plugins/slurm/failure.hpp"
#include "plugins/slurm/job_number.hpp"
#include "plugins/slurm/message.hpp"
#include "plugins/slurm/releases.hpp"
#include "plugins/slurm/words.hpp"
#include "plugins/slurm_shared/operations.hpp"
#include "plugins/slurm_shared/reservation.hpp"

#include <nlohmann/json.hpp>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <cerrno>
#include <csignal>
#include <initializer_list>

namespace slurm_plugin {
namespace {

// The outcome of an operation whose libslurm call returned `status`; `fine` has the error numbers
// that mean that the job is already in the requested state.
Outcome<json> outcome_of(int status, const json& request, std::initializer_list<int> fine) {
  if (status == SLURM_SUCCESS) return json::object();
  // slurm_requeue returns the number itself, the others return -1 and set errno.
  const int number = status > 0 ? status : errno;
  for (const int known : fine)
    if (number == known) return json::object();
  return failed_slurm(number, named_job(request));
}

// Identifies the job by its text, because the number of an array's last task is also that of the
// whole array, which slurm_kill_job() would not reach.
Outcome<json> send_signal(const json& request,
                          std::uint16_t signal,
                          std::uint16_t flags,
                          std::initializer_list<int> fine) {
  if (const auto id = job_number(request); !id) return tl::unexpected<Failure>(id.error());
  const std::string text = request.at("id").get<std::string>();
  return outcome_of(slurm_kill_job2(text.c_str(), signal, flags, nullptr), request, fine);
}

// Changes the members of the job that are set in `update`.
Outcome<json> change(job_desc_msg_t& update, const json& request) {
  std::string text = request.at("id").get<std::string>();
  update.job_id_str = text.data();
  job_array_resp_msg_t* answers = nullptr;  // one for each task not changed
  const int status = slurm_update_job2(&update, &answers);
  if (answers != nullptr) slurm_free_job_array_resp(answers);
  return outcome_of(status, request, {});
}

// A requeued job. If it fails, Slurm holds the job at the reservation's end, and its reason says
// what to do.
void leave_ending_reservation(const json& request, std::uint32_t id) {
  job_info_msg_t* found = nullptr;
  if (slurm_load_job(&found, JobArgument(id), SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS) return;
  const Message<job_info_msg_t, slurm_free_job_info_msg> message(found);
  if (message->record_count == 0 || !are_nearly_over(text(message->job_array[0].resv_name))) return;
  job_desc_msg_t update;
  slurm_init_job_desc_msg(&update);
  std::string none;
  update.reservation = none.data();
  [[maybe_unused]] const auto left = change(update, request);
}

// Whether it is a task of an array that runs now.
bool is_running_task(const json& request) {
  const auto name = job_name(request);
  const auto id = job_number(request);
  job_info_msg_t* found = nullptr;
  if (!name || !name->task || !id ||
      slurm_load_job(&found, JobArgument(*id), SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS)
    return false;
  const Message<job_info_msg_t, slurm_free_job_info_msg> message(found);
  return message->record_count > 0 && message->job_array[0].job_state == JOB_RUNNING;
}

}  // namespace

Outcome<json> cancel(const json& request) {
  return send_signal(request, SIGKILL, 0, {ESLURM_ALREADY_DONE});
}

Outcome<json> requeue(const json& request) {
  const auto id = job_number(request);
  if (!id) return tl::unexpected<Failure>(id.error());
  std::string text = request.at("id").get<std::string>();
  job_array_resp_msg_t* answers = nullptr;  // one for each task not requeued
  const bool plain = !parse_job_name(text)->task && !parse_job_name(text)->component;
  const int status =
      plain ? slurm_requeue(JobArgument(*id), 0) : slurm_requeue2(text.data(), 0, &answers);
  if (answers != nullptr) slurm_free_job_array_resp(answers);
  auto outcome = outcome_of(status, request, {ESLURM_JOB_PENDING});
  if (outcome) leave_ending_reservation(request, *id);
  return outcome;
}

Outcome<json> exclude(const json& request) {
  const auto id = job_number(request);
  if (!id) return tl::unexpected<Failure>(id.error());
  std::string nodes = request.at("nodes").get<std::string>();
  job_info_msg_t* found = nullptr;
  if (slurm_load_job(&found, JobArgument(*id), SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS)
    return failed_slurm(named_job(request));
  if (found->record_count > 0 && found->job_array[0].exc_nodes != nullptr &&
      *found->job_array[0].exc_nodes != '\0')
    nodes = std::string(found->job_array[0].exc_nodes) + "," + nodes;
  slurm_free_job_info_msg(found);
  job_desc_msg_t update;
  slurm_init_job_desc_msg(&update);
  update.exc_nodes = nodes.data();
  return change(update, request);
}

Outcome<json> forbid_requeue(const json& request) {
  job_desc_msg_t update;
  slurm_init_job_desc_msg(&update);
  update.requeue = 0;
  return change(update, request);
}

// While other tasks of an array wait, slurmctld sends the signal and then answers that those could
// not be signalled (22.05).
Outcome<json> signal_batch(const json& request) {
  const auto signal = request.at("signal").get<std::uint16_t>();
  return is_running_task(request)
             ? send_signal(request, signal, KILL_JOB_BATCH, {ESLURM_TRANSITION_STATE_NO_UPDATE})
             : send_signal(request, signal, KILL_JOB_BATCH, {});
}

}  // namespace slurm_plugin
