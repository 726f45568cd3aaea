// SPDX-License-Identifier: Apache-2.0
// The single table that maps Slurm's error numbers (slurm_errno.h) to ours.
#include "plugins/slurm/failure.hpp"

#include <slurm/slurm_errno.h>

#include <algorithm>
#include <cerrno>

namespace slurm_plugin {
namespace {

struct Meaning {
  int first;
  int last;  // inclusive
  const char* code;
  const char* hint;
};

constexpr const char* k_down =
    "is slurmctld running? `scontrol ping` shows it; try again once it answers";
constexpr const char* k_auth = "is munge running here, with the cluster's key? `munge -n` shows it";

// The first row whose range includes the number applies.
constexpr Meaning k_meanings[] = {
    {EAGAIN, EAGAIN, "unreachable", "Slurm is busy: try again in a moment"},
    {1, 999, "unreachable", k_down},  // the system's own errno values: sockets
    {SLURM_PROTOCOL_VERSION_ERROR,
     SLURM_PROTOCOL_VERSION_ERROR,
     "unreachable",
     "the controller is of another release: use the Slurm library of the cluster's version"},
    {SLURM_PROTOCOL_AUTHENTICATION_ERROR,
     SLURM_PROTOCOL_AUTHENTICATION_ERROR,
     "unreachable",
     k_auth},
    {SLURM_UNEXPECTED_MSG_ERROR, SLURM_COMMUNICATIONS_MISSING_SOCKET_ERROR, "unreachable", k_down},
    {SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR,
     SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR,
     "unreachable",
     k_down},
    {SLURM_PROTOCOL_SOCKET_IMPL_ZERO_RECV_LENGTH,
     SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT,
     "unreachable",
     k_down},
    {ESLURM_AUTH_CRED_INVALID, ESLURM_AUTH_SKIP, "unreachable", k_auth},
    {ESLURM_IN_STANDBY_MODE, ESLURM_IN_STANDBY_MODE, "unreachable", k_down},
    {ESLURM_IN_STANDBY_USE_BACKUP, ESLURM_IN_STANDBY_USE_BACKUP, "unreachable", k_down},
    {ESLURM_INVALID_JOB_ID,
     ESLURM_INVALID_JOB_ID,
     "not_found",
     "Slurm forgets a job some minutes after its end (MinJobAge); `sacct` may still know it"},
    {ESLURM_INVALID_PARTITION_NAME,
     ESLURM_DEFAULT_PARTITION_NOT_SET,
     "rejected",
     "`sinfo --summarize` lists the partitions; choose one with --partition"},
    {ESLURM_ACCESS_DENIED, ESLURM_ACCESS_DENIED, "rejected", "only the job's owner may do this"},
    {ESLURM_JOB_MISSING_REQUIRED_PARTITION_GROUP,
     ESLURM_JOB_MISSING_REQUIRED_PARTITION_GROUP,
     "rejected",
     "the partition is for certain groups only (`scontrol show partition`): choose another one"},
    {ESLURM_TOO_MANY_REQUESTED_CPUS,
     ESLURM_INVALID_NODE_COUNT,
     "rejected",
     "`sinfo --long` shows how many nodes and cores the partition has"},
    {ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE,
     ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE,
     "rejected",
     "no set of nodes fits: compare --nodes, --gpus-per-node, --cpus-per-task and --mem with "
     "`scontrol show nodes`"},
    {ESLURM_DISABLED, ESLURM_DISABLED, "rejected", "the job was submitted with --no-requeue"},
    {ESLURM_DEPENDENCY, ESLURM_DEPENDENCY, "rejected", "look at --dependency"},
    {ESLURM_INVALID_ACCOUNT,
     ESLURM_INVALID_ACCOUNT,
     "rejected",
     "`sacctmgr show associations user=$USER` lists your accounts; choose one with --account"},
    {ESLURM_INVALID_TASK_MEMORY,
     ESLURM_INVALID_TASK_MEMORY,
     "rejected",
     "ask for less with --mem, or for none of it by --mem=0 (all of a node)"},
    {ESLURM_ACCOUNTING_POLICY,
     ESLURM_ACCOUNTING_POLICY,
     "rejected",
     "a limit of your account or QOS: `sacctmgr show associations user=$USER`"},
    {ESLURM_INVALID_TIME_LIMIT,
     ESLURM_INVALID_TIME_LIMIT,
     "rejected",
     "the partition's longest time is in `sinfo`; ask for less with --time"},
    {ESLURM_MISSING_TIME_LIMIT, ESLURM_MISSING_TIME_LIMIT, "rejected", "give a limit with --time"},
    {ESLURM_INVALID_QOS,
     ESLURM_INVALID_QOS,
     "rejected",
     "`sacctmgr show qos` lists them; choose one with --qos"},
    {ESLURM_INVALID_GRES,
     ESLURM_INVALID_GRES,
     "rejected",
     "`sinfo --Format=nodes,gres` shows the GPUs; compare with --gpus-per-node"},
    {ESLURM_SUBMISSIONS_DISABLED, ESLURM_SUBMISSIONS_DISABLED, "rejected", "ask the site's staff"},
};

}  // namespace

tl::unexpected<Failure> failed_slurm(int number, const std::string& what) {
  const std::string words = slurm_strerror(number);
  const std::string message = what.empty() ? words : what + ": " + words;
  for (const Meaning& meaning : k_meanings)
    if (number >= meaning.first && number <= meaning.last)
      return failed(meaning.code, message, meaning.hint);
  return failed("rejected", message);
}

tl::unexpected<Failure> failed_command(const std::string& message) {
  for (const Meaning& meaning : k_meanings)
    for (int number = std::max(meaning.first, 1000); number <= meaning.last; ++number)
      if (message.find(slurm_strerror(number)) != std::string::npos)
        return failed(meaning.code, message, meaning.hint);
  return failed("rejected", message);
}

tl::unexpected<Failure> failed_slurm(const std::string& what) {
  return failed_slurm(slurm_get_errno(), what);
}

}  // namespace slurm_plugin
