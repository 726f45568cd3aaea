// SPDX-License-Identifier: Apache-2.0
#include "core/run/event/cause.hpp"

#include "core/base/text/names.hpp"

#include <algorithm>

namespace dts::run {
namespace {

constexpr Names<Cause, 33> k_names{{
    {Cause::completed, "completed"},
    {Cause::preempted, "preempted"},
    {Cause::time_limit, "time_limit"},
    {Cause::cancelled, "cancelled"},
    {Cause::requeued, "requeued"},
    {Cause::node_failed, "node_failed"},
    {Cause::stopped, "stopped"},
    {Cause::signalled, "signalled"},
    {Cause::checkpointed, "checkpointed"},
    {Cause::no_restart, "no_restart"},
    {Cause::rank_killed, "rank_killed"},
    {Cause::out_of_memory, "out_of_memory"},
    {Cause::gpu_error, "gpu_error"},
    {Cause::gpu_unseen, "gpu_unseen"},
    {Cause::storage_error, "storage_error"},
    {Cause::comm_timeout, "comm_timeout"},
    {Cause::rendezvous, "rendezvous"},
    {Cause::hang, "hang"},
    {Cause::corruption, "corruption"},
    {Cause::damaged, "damaged"},
    {Cause::disk_full, "disk_full"},
    {Cause::no_program, "no_program"},
    {Cause::set_up_failed, "set_up_failed"},
    {Cause::user_exit, "user_exit"},
    {Cause::launcher_died, "launcher_died"},
    {Cause::launch_failed, "launch_failed"},
    {Cause::wrong_ranks, "wrong_ranks"},
    {Cause::second_launcher, "second_launcher"},
    {Cause::wrong_binding, "wrong_binding"},
    {Cause::fenced, "fenced"},
    {Cause::run_vanished, "run_vanished"},
    {Cause::run_damaged, "run_damaged"},
    {Cause::agent_lost, "agent_lost"},
}};

}  // namespace

const char* to_string(Cause cause) {
  return name_of(k_names, cause);
}

std::optional<Cause> cause_from(std::string_view text) {
  return value_of(k_names, text);
}

std::vector<Cause> all_causes() {
  std::vector<Cause> causes;
  for (const auto& [value, name] : k_names) causes.push_back(value);
  return causes;
}

bool says_port_is_taken(std::string_view detail) {
  constexpr std::string_view k_words[] = {"Address already in use",
                                          "address already in use",
                                          "EADDRINUSE",
                                          "Failed to add port to server",  // gRPC's: JAX
                                          "Could not start gRPC server"};  // TensorFlow's
  return std::any_of(std::begin(k_words), std::end(k_words), [&](std::string_view words) {
    return detail.find(words) != detail.npos;
  });
}

}  // namespace dts::run
