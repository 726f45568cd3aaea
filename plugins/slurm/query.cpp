// SPDX-License-Identifier: Apache-2.0
// Queries to the controller, one RPC each. Slurm's special numbers for "no value" are translated
// here.
#include "plugins/slurm/array_tasks.hpp"
#include "plugins/slurm/failure.hpp"
#include "plugins/slurm/job_number.hpp"
#include "plugins/slurm/loaded_config.hpp"
#include "plugins/slurm/message.hpp"
#include "plugins/slurm/partition_reply.hpp"
#include "plugins/slurm/printed.hpp"
#include "plugins/slurm/releases.hpp"
#include "plugins/slurm/words.hpp"
#include "plugins/slurm_shared/accounting.hpp"
#include "plugins/slurm_shared/billing.hpp"
#include "plugins/slurm_shared/config_reply.hpp"
#include "plugins/slurm_shared/job_record.hpp"
#include "plugins/slurm_shared/job_reply.hpp"
#include "plugins/slurm_shared/node_words.hpp"
#include "plugins/slurm_shared/operations.hpp"
#include "plugins/slurm_shared/request_text.hpp"
#include "plugins/slurm_shared/reservation.hpp"
#include "plugins/slurm_shared/show_job.hpp"

#include <nlohmann/json.hpp>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <utility>

namespace slurm_plugin {
namespace {

// Without SHOW_LOCAL, libslurm first queries the federation, a second RPC.
constexpr std::uint16_t k_show = SHOW_ALL | SHOW_LOCAL;
constexpr std::uint16_t k_show_federation = SHOW_ALL | SHOW_FEDERATION | SHOW_SIBLING;

// The job's processor numbers on each node; empty if libslurm does not report them.
std::vector<std::string> cpus_of(const slurm_job_info_t& info) {
  std::vector<std::string> list;
  for (std::uint32_t node = 0; info.job_resrcs != nullptr && node < info.num_nodes; ++node)
    list.push_back(cpus_on(info.job_resrcs, static_cast<int>(node)));
  return list;
}

JobRecord record_of(const slurm_job_info_t& info) {
  const int status = info.exit_code == NO_VAL ? 0 : static_cast<int>(info.exit_code);
  return {.state = job_state_word(info.job_state),
          .preparing = (info.job_state & (JOB_CONFIGURING | JOB_POWER_UP_NODE)) != 0,
          .reason = info.state_reason == WAIT_NO_REASON ? "None" : reason_word(info.state_reason),
          .description = text(info.state_desc),
          .was_requeued = info.restart_cnt != NO_VAL16 && info.restart_cnt > 0,
          .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
          .exit_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .first_node = text(info.batch_host),
          .asks_for_switches = info.req_switch > 0 && info.req_switch != NO_VAL};
}

// In seconds; 0: none, or not known.
std::int64_t time_limit_of(const slurm_job_info_t& info) {
  const bool is_known = info.time_limit != INFINITE && info.time_limit != NO_VAL;
  return is_known ? std::int64_t{info.time_limit} * 60 : 0;
}

json job_json(const slurm_job_info_t& info) {
  return reply_of(JobFacts{.record = record_of(info),
                           .id = name_of(info),
                           .array = info.array_job_id == 0 ? "" : std::to_string(info.array_job_id),
                           .tasks = waiting_tasks(info),
                           .completing = (info.job_state & JOB_COMPLETING) != 0,
                           .partition = text(info.partition),
                           .reservation = text(info.resv_name),
                           .dependency = text(info.dependency),
                           .nodes = text(info.nodes),
                           .cpus = cpus_of(info),
                           .exclude_nodes = text(info.exc_nodes),
                           .restart_count = info.restart_cnt == NO_VAL16 ? 0 : info.restart_cnt,
                           .requeue = info.requeue == 1,
                           .eligible_time = info.eligible_time,
                           .start_time = info.start_time,
                           .end_time = info.end_time,
                           .time_limit = time_limit_of(info),
                           .preempt_time = info.preempt_time,
                           .command = text(info.command)});
}

// Adds the job's processors as scontrol prints them, if libslurm does not report them.
json with_cpus(json reply) {
  if (k_tells_cpus<job_resources_t> || reply["state"] != "running") return reply;
  const auto records = show_job(reply["id"].get<std::string>());
  if (records && !records->empty()) reply["cpus"] = cpus_of(records->front());
  return reply;
}

json node_json(const node_info_t& info) {
  json node{{"name", text(info.name)},
            {"address", text(info.node_addr)},
            {"port", info.port},
            {"state", node_state_word(info.node_state)},
            {"away", is_unavailable(node_state_word(info.node_state))},
            {"lost", is_lost(node_state_word(info.node_state))},
            {"powered_down", is_powered_down(node_state_word(info.node_state))},
            {"memory_mib", memory_for_jobs(info.real_memory, info.mem_spec_limit)}};
  add_cpus(node, {info.cpus, info.cpus_efctv, info.sockets, info.cores});
  add_gpus(node, text(info.gres));
  return node;
}

// A heterogeneous job is identified by the number of its first component.
bool is_later_component(const slurm_job_info_t& info) {
  return info.het_job_id != 0 && info.het_job_id != number_in(info);
}

// Whether another cluster of the federation runs the job; only that cluster knows its state.
bool is_revoked(const slurm_job_info_t& info) {
  return (info.job_state & JOB_REVOKED) != 0;
}

using Jobs = Message<job_info_msg_t, slurm_free_job_info_msg>;

// nullptr, with errno set, if the controller does not answer or does not know the job.
Jobs load_jobs(std::uint32_t number, std::uint16_t show) {
  job_info_msg_t* raw = nullptr;
  const int status = slurm_load_job(&raw, JobArgument(number), show | SHOW_DETAIL);
  return Jobs(status == SLURM_SUCCESS ? raw : nullptr);
}

// The record with that number for which `is` returns true; nullptr if there is none.
template <class Is>
const slurm_job_info_t* find_record(const Jobs& jobs, std::uint32_t number, Is is) {
  for (std::uint32_t i = 0; jobs != nullptr && i < jobs->record_count; ++i)
    if (const slurm_job_info_t& job = jobs->job_array[i]; number_in(job) == number && is(job))
      return &job;
  return nullptr;
}

Outcome<json> load_job(const json& request) {
  const auto id = job_number(request);
  if (!id) return tl::unexpected<Failure>(id.error());
  const Jobs here = load_jobs(*id, k_show);
  if (here == nullptr) return failed_slurm(named_job(request));
  const slurm_job_info_t* job = find_record(here, *id, [](const auto&) { return true; });
  if (job == nullptr) return failed_slurm(ESLURM_INVALID_JOB_ID, named_job(request));
  if (!is_revoked(*job)) return with_reservations(with_cpus(job_json(*job)), std::time(nullptr));
  const Jobs everywhere = load_jobs(*id, k_show_federation);
  const auto* elsewhere = find_record(everywhere, *id, std::not_fn(is_revoked));
  return job_json(elsewhere != nullptr ? *elsewhere : *job);
}

// Whether it waits, or has nodes until its last process has ended.
bool is_queued(const slurm_job_info_t& info) {
  const auto base = info.job_state & JOB_STATE_BASE;
  return base == JOB_PENDING || base == JOB_RUNNING || base == JOB_SUSPENDED ||
         (info.job_state & JOB_COMPLETING) != 0;
}

json queued_json(const slurm_job_info_t& info) {
  const bool waits = (info.job_state & JOB_STATE_BASE) == JOB_PENDING;
  const bool is_bounded = !waits && info.time_limit != INFINITE &&
                          !has_no_limit(info.start_time, info.end_time, time_limit_of(info));
  return {{"id", name_of(info)},
          {"waits", waits},
          {"partition", text(info.partition)},
          {"nodes", text(info.nodes)},
          {"end_time", is_bounded ? info.end_time : 0}};
}

std::string text_of(const Config& conf) {
  return printed([&](std::FILE* stream) { slurm_print_ctl_conf(stream, conf.get()); });
}

}  // namespace

Outcome<json> job(const json& request) {
  return or_accounted(load_job(request), request);
}

// One RPC for all jobs of this user, because the controller cannot search by command.
Outcome<json> find(const json& request) {
  const std::string command = bytes_of(request.at("command"));
  job_info_msg_t* raw = nullptr;
  if (slurm_load_job_user(&raw, getuid(), k_show) != SLURM_SUCCESS) return failed_slurm();
  const Message<job_info_msg_t, slurm_free_job_info_msg> message(raw);
  std::sort(message->job_array,
            message->job_array + message->record_count,
            [](const auto& a, const auto& b) { return number_in(a) < number_in(b); });
  json list = json::array();
  for (std::uint32_t i = 0; i < message->record_count; ++i)
    if (text(message->job_array[i].command) == command &&
        !is_later_component(message->job_array[i]))
      list.push_back(job_json(message->job_array[i]));
  return list;
}

Outcome<json> nodes(const json&) {
  node_info_msg_t* raw = nullptr;
  if (slurm_load_node(0, &raw, k_show | SHOW_MIXED) != SLURM_SUCCESS)
    return or_hidden(failed_slurm().value());
  const Message<node_info_msg_t, slurm_free_node_info_msg> message(raw);
  json list = json::array();
  for (std::uint32_t i = 0; i < message->record_count; ++i)
    if (message->node_array[i].name != nullptr) list.push_back(node_json(message->node_array[i]));
  return list;
}

// The jobs of all users, in one RPC.
Outcome<json> queue(const json&) {
  job_info_msg_t* raw = nullptr;
  if (slurm_load_jobs(0, &raw, k_show) != SLURM_SUCCESS) return failed_slurm();
  const Message<job_info_msg_t, slurm_free_job_info_msg> message(raw);
  json list = json::array();
  for (std::uint32_t i = 0; i < message->record_count; ++i)
    if (is_queued(message->job_array[i])) list.push_back(queued_json(message->job_array[i]));
  return list;
}

Outcome<json> partitions(const json&) {
  partition_info_msg_t* raw = nullptr;
  if (slurm_load_partitions(0, &raw, k_show) != SLURM_SUCCESS) return failed_slurm();
  const Message<partition_info_msg_t, slurm_free_partition_info_msg> message(raw);
  const Config conf = load_config();
  const Record site = conf == nullptr ? Record() : parse_config(text_of(conf));
  json list = json::array();
  for (std::uint32_t i = 0; i < message->record_count; ++i)
    list.push_back(partition_reply(message->partition_array[i], site));
  return list;
}

Outcome<json> config(const json&) {
  const Config conf = load_config();
  if (conf == nullptr) return failed_slurm();
  return reply_of(
      Configuration{.release = text(conf->version),
                    .cluster_name = text(conf->cluster_name),
                    .requeue_exit = text(conf->requeue_exit),
                    .requeue_exit_hold = text(conf->requeue_exit_hold),
                    .proctrack = text(conf->proctrack_type),
                    .billing_rule = billing_rule_of(conf->priority_flags),
                    .kill_wait = conf->kill_wait,
                    .resume_timeout = conf->resume_timeout,
                    .max_array_size = conf->max_array_sz,
                    .max_tasks_per_node = conf->max_tasks_per_node,
                    .one_task_per_core = (conf->select_type_param & CR_ONE_TASK_PER_CORE) != 0,
                    .boot_time = conf->boot_time});
}

Outcome<json> settings(const json&) {
  const Config conf = load_config();
  if (conf == nullptr) return failed_slurm();
  return settings_json(text_of(conf));
}

Outcome<json> version(const json&) {
  return json{
      {"built_with", version_word(SLURM_VERSION_NUMBER)},
      {"library", version_word(slurm_api_version())},
      {"words", "Slurm " + version_word(SLURM_VERSION_NUMBER) + " through " LIBSLURM_SONAME}};
}

}  // namespace slurm_plugin
