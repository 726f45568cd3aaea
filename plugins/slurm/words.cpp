// SPDX-License-Identifier: Apache-2.0
// Names of Slurm's states.
#include "plugins/slurm/words.hpp"

#include "plugins/slurm_shared/node_words.hpp"

#include <slurm/slurm.h>

#include <utility>

namespace slurm_plugin {
namespace {

const char* base_node_word(std::uint32_t base) {
  switch (base) {
    case NODE_STATE_DOWN:
      return "down";
    case NODE_STATE_IDLE:
      return "idle";
    case NODE_STATE_ALLOCATED:
      return "allocated";
    case NODE_STATE_ERROR:
      return "error";
    case NODE_STATE_MIXED:
      return "mixed";
    case NODE_STATE_FUTURE:
      return "future";
    default:
      return "unknown";
  }
}

}  // namespace

std::string text(const char* value) {
  return value == nullptr ? std::string() : value;
}

const char* job_state_word(std::uint32_t state) {
  // Another cluster of the federation knows the state.
  if ((state & JOB_REVOKED) != 0) return "unknown";
  switch (state & JOB_STATE_BASE) {
    case JOB_PENDING:
      return "pending";
    case JOB_RUNNING:
      return "running";
    case JOB_SUSPENDED:
      return "suspended";
    case JOB_COMPLETE:
      return "completed";
    case JOB_CANCELLED:
      return "cancelled";
    case JOB_FAILED:
      return "failed";
    case JOB_TIMEOUT:
    case JOB_DEADLINE:
      return "timed_out";
    case JOB_NODE_FAIL:
    case JOB_BOOT_FAIL:
      return "node_failed";
    case JOB_PREEMPTED:
      return "preempted";
    case JOB_OOM:
      return "out_of_memory";
    default:
      return "unknown";
  }
}

std::string node_state_word(std::uint32_t state) {
  char power = 0;
  for (const auto& [flag, sign] : {std::pair<std::uint32_t, char>{NODE_STATE_POWER_DOWN, '!'},
                                   {NODE_STATE_POWERED_DOWN, '~'},
                                   {NODE_STATE_POWERING_UP, '#'},
                                   {NODE_STATE_POWERING_DOWN, '%'}})
    if ((state & flag) != 0) power = sign;
  return node_state_word({.base = base_node_word(state & NODE_STATE_BASE),
                          .invalid = (state & NODE_STATE_INVALID_REG) != 0,
                          .drain = (state & NODE_STATE_DRAIN) != 0,
                          .maintenance = (state & NODE_STATE_MAINT) != 0,
                          .reserved = (state & NODE_STATE_RES) != 0,
                          .completing = (state & NODE_STATE_COMPLETING) != 0,
                          .power = power,
                          .silent = (state & NODE_STATE_NO_RESPOND) != 0});
}

const char* preemption_word(unsigned mode) {
  switch (mode & ~static_cast<unsigned>(PREEMPT_MODE_GANG | PREEMPT_MODE_WITHIN)) {
    case PREEMPT_MODE_SUSPEND:
      return "suspend";
    case PREEMPT_MODE_REQUEUE:
      return "requeue";
    case PREEMPT_MODE_CANCEL:
      return "cancel";
    default:
      return "none";
  }
}

std::string version_word(long number) {
  const auto two = [](long part) { return (part < 10 ? "0" : "") + std::to_string(part); };
  return two((number >> 16) & 0xff) + "." + two((number >> 8) & 0xff) + "." +
         std::to_string(number & 0xff);
}

}  // namespace slurm_plugin
