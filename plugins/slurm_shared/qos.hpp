// SPDX-License-Identifier: Apache-2.0
// What the accounting, sacctmgr(1), knows about qualities of service. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace slurm_plugin {

// The fields that sacctmgr is asked for, in this order.
inline constexpr const char* k_qos_fields =
    "Name,Preempt,PreemptMode,GraceTime,PreemptExemptTime,MaxWall,Flags";
inline constexpr const char* k_association_fields = "Account,User,DefaultQOS,QOS";

// The reply: a list of all of them, from the output of `sacctmgr show qos` with these fields. For
// `default_name` see default_qos().
[[nodiscard]] nlohmann::json qos_json(const std::string& printed, const std::string& default_name);

// The QOS of a job in `account` that names none: the association's default, its only one, the root
// account's default, or "normal" (src/slurmctld/job_mgr.c, 22.05 to 26.05). `printed` has the
// associations of root and of the user, from `sacctmgr show associations`.
[[nodiscard]] std::string default_qos(const std::string& printed, const std::string& account);

// This process's user; empty if the system does not know a name.
[[nodiscard]] std::string user_name();

}  // namespace slurm_plugin
