// SPDX-License-Identifier: Apache-2.0
// The single table that maps Slurm's error numbers (slurm_errno.h) to ours.
#include "plugins/slurm/failure.hpp"

#include <slurm/slurm_errno.h>

#include <cerrno>

namespace slurm_plugin {
namespace {

using namespace meanings;

struct Range {
  int first;
  int last;  // inclusive
  Meaning meaning;
};

// Its name, SLURM_PROTOCOL_SOCKET_IMPL_ZERO_RECV_LENGTH, was removed from the header in 24.11.
constexpr int k_first_socket_error = 5000;

// Errors from 1000 on are messages that were not exchanged. Their number grows: 14 in 22.05, 24 in
// 26.05.
constexpr int k_last_message_error = 1099;

// The first row whose range includes the number applies.
constexpr Range k_meanings[] = {
    {EAGAIN, EAGAIN, k_busy},
    {SLURM_ERROR, SLURM_ERROR, k_release},  // the reply's header has the number of another release
    {SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT, SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT, k_hung_up},
    {1, 999, k_down},  // the system's own errno values: sockets
    {SLURM_PROTOCOL_VERSION_ERROR, SLURM_PROTOCOL_VERSION_ERROR, k_release},
    {SLURM_PROTOCOL_AUTHENTICATION_ERROR, SLURM_PROTOCOL_AUTHENTICATION_ERROR, k_authentication},
    {SLURM_UNEXPECTED_MSG_ERROR, k_last_message_error, k_down},
    {SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR, SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR, k_down},
    {k_first_socket_error, SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT, k_down},
    {ESLURM_AUTH_CRED_INVALID, ESLURM_AUTH_SKIP, k_authentication},
    {ESLURM_IN_STANDBY_MODE, ESLURM_IN_STANDBY_MODE, k_down},
    {ESLURM_IN_STANDBY_USE_BACKUP, ESLURM_IN_STANDBY_USE_BACKUP, k_down},
    {ESLURM_INVALID_JOB_ID, ESLURM_INVALID_JOB_ID, k_no_job},
    {ESLURM_INVALID_PARTITION_NAME, ESLURM_DEFAULT_PARTITION_NOT_SET, k_partition},
    {ESLURM_ACCESS_DENIED, ESLURM_ACCESS_DENIED, k_denied},
    {ESLURM_JOB_MISSING_REQUIRED_PARTITION_GROUP,
     ESLURM_JOB_MISSING_REQUIRED_PARTITION_GROUP,
     k_group},
    {ESLURM_USER_ID_MISSING, ESLURM_USER_ID_MISSING, k_user},
    {ESLURM_TOO_MANY_REQUESTED_CPUS, ESLURM_INVALID_NODE_COUNT, k_size},
    {ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE, ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE, k_nodes},
    {ESLURM_DISABLED, ESLURM_DISABLED, k_no_requeue},
    {ESLURM_DEPENDENCY, ESLURM_DEPENDENCY, k_dependency},
    {ESLURM_INVALID_ACCOUNT, ESLURM_INVALID_ACCOUNT, k_account},
    {ESLURM_INVALID_TASK_MEMORY, ESLURM_INVALID_TASK_MEMORY, k_memory},
    {ESLURM_ACCOUNTING_POLICY, ESLURM_ACCOUNTING_POLICY, k_policy},
    {ESLURM_INVALID_TIME_LIMIT, ESLURM_INVALID_TIME_LIMIT, k_time},
    {ESLURM_MISSING_TIME_LIMIT, ESLURM_MISSING_TIME_LIMIT, k_no_time},
    {ESLURM_INVALID_QOS, ESLURM_INVALID_QOS, k_qos},
    {ESLURM_INVALID_GRES, ESLURM_INVALID_GRES, k_gres},
    {ESLURM_INVALID_FEATURE, ESLURM_INVALID_FEATURE, k_feature},
    {ESLURM_PARTITION_NOT_AVAIL, ESLURM_PARTITION_NOT_AVAIL, k_partition_closed},
    {ESLURM_INVALID_LICENSES, ESLURM_INVALID_LICENSES, k_licences},
    {ESLURM_RESERVATION_ACCESS, ESLURM_RESERVATION_INVALID, k_reservation},
    {ESLURM_INVALID_NODE_NAME, ESLURM_INVALID_NODE_NAME, k_node_name},
    {ESLURM_SUBMISSIONS_DISABLED, ESLURM_SUBMISSIONS_DISABLED, k_closed},
};

}  // namespace

tl::unexpected<Failure> failed_slurm(int number, const std::string& what) {
  const std::string words = number == SLURM_ERROR
                                ? "the controller speaks the protocol of another release"
                                : slurm_strerror(number);
  const std::string message = what.empty() ? words : what + ": " + words;
  for (const Range& range : k_meanings)
    if (number >= range.first && number <= range.last) return failed(range.meaning, message);
  return failed("rejected", message);
}

tl::unexpected<Failure> failed_slurm(const std::string& what) {
  return failed_slurm(errno, what);
}

}  // namespace slurm_plugin
