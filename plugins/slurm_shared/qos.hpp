// SPDX-License-Identifier: Apache-2.0
// What the accounting, sacctmgr(1), knows of qualities of service. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace slurm_plugin {

// In the order in which sacctmgr is asked for them.
inline constexpr const char* k_qos_fields =
    "Name,Preempt,PreemptMode,GraceTime,PreemptExemptTime,MaxWall,Flags";
inline constexpr const char* k_association_fields = "Account,User,DefaultQOS,QOS";

// The reply: a list of all of them, from what `sacctmgr show qos` printed with these fields.
// `default_name`: see default_qos().
[[nodiscard]] nlohmann::json qos_json(const std::string& printed, const std::string& default_name);

// The QOS of a job of `account` that names none: the association's default, the only one that it
// has, the root account's default, or "normal" (src/slurmctld/job_mgr.c, 22.05 to 26.05).
// `printed`: the associations of root and of the user, from `sacctmgr show associations`.
[[nodiscard]] std::string default_qos(const std::string& printed, const std::string& account);

}  // namespace slurm_plugin
