// SPDX-License-Identifier: Apache-2.0
// Names of Slurm's states, and a parser for a node's Gres.
#include "plugins/slurm/words.hpp"

#include <slurm/slurm.h>

#include <cctype>
#include <string_view>

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

// One entry of a Gres list, without its "(S:...)": "gpu", "gpu:8", "gpu:a100:8".
unsigned gpus_of_entry(std::string_view entry) {
  entry = entry.substr(0, entry.find('('));
  if (entry.substr(0, 3) != "gpu" || (entry.size() > 3 && entry[3] != ':')) return 0;
  if (entry.size() == 3) return 1;
  const std::string_view number = entry.substr(entry.rfind(':') + 1);
  unsigned count = 0;
  for (const char digit : number) {
    if (std::isdigit(static_cast<unsigned char>(digit)) == 0) return 1;  // "gpu:a100"
    count = count * 10 + static_cast<unsigned>(digit - '0');
  }
  return count;
}

}  // namespace

const char* job_state_word(std::uint32_t state) {
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
  const std::uint32_t base = state & NODE_STATE_BASE;
  std::string word = base_node_word(base);
  const bool busy = base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED ||
                    (state & NODE_STATE_COMPLETING) != 0;
  if ((state & NODE_STATE_INVALID_REG) != 0)
    word = "inval";
  else if ((state & NODE_STATE_DRAIN) != 0)
    word = busy ? "draining" : "drained";
  else if ((state & NODE_STATE_MAINT) != 0 && !busy)
    word = "maint";
  else if ((state & NODE_STATE_RES) != 0 && base == NODE_STATE_IDLE)
    word = "reserved";
  else if ((state & NODE_STATE_COMPLETING) != 0)
    word = "completing";
  if ((state & NODE_STATE_NO_RESPOND) != 0) word += '*';
  return word;
}

bool is_lost(std::string_view state) {
  return state.find('*') != std::string_view::npos || state.rfind("down", 0) == 0;
}

bool is_away(std::string_view state) {
  if (is_lost(state)) return true;
  for (const std::string_view word : {"drain", "fail", "error", "inval"})
    if (state.rfind(word, 0) == 0) return true;
  return false;
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

unsigned count_gpus(const char* gres) {
  if (gres == nullptr) return 0;
  unsigned total = 0;
  int depth = 0;
  std::string entry;
  for (const char c : std::string_view(gres)) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) {
      total += gpus_of_entry(entry);
      entry.clear();
    } else {
      entry += c;
    }
  }
  return total + gpus_of_entry(entry);
}

}  // namespace slurm_plugin
