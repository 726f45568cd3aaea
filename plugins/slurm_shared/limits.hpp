// SPDX-License-Identifier: Apache-2.0
// The limits of QOS, associations and partitions that a single job can exceed by itself. Such a job
// waits for ever, although sbatch accepts it and `sbatch --test-only` predicts its start. Pure.
#pragma once

#include "plugins/slurm_shared/record.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace slurm_plugin {

// The fields that sacctmgr is asked for.
inline constexpr const char* k_qos_limit_fields =
    "Name,Flags,LimitFactor,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,GrpSubmit,GrpWall,MaxTRES,"
    "MaxTRESPerNode,MaxTRESMins,MaxWall,MaxTRESPU,MaxJobsPU,MaxSubmitPU,MaxTRESPA,MaxJobsPA,"
    "MaxSubmitPA,MinTRES";
inline constexpr const char* k_association_limit_fields =
    "Account,ParentName,User,Partition,DefaultQOS,QOS,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,"
    "GrpSubmit,GrpWall,MaxTRES,MaxTRESPerNode,MaxTRESMins,MaxWall,MaxJobs,MaxSubmit";

// What sacctmgr printed with these fields (--noheader --parsable2), a record for each line.
[[nodiscard]] std::vector<Record> parse_table(const std::string& printed,
                                              const std::string& fields);

struct LimitFacts {
  Record site;                       // slurm.conf
  std::vector<Record> partitions{};  // `scontrol show partition`
  std::vector<Record> qos{};
  std::vector<Record> accounts{};  // the associations of accounts, which are the parents of users'
  std::vector<Record> own{};       // the user's associations
  std::string account{};           // of the job
  std::string qos_asked{};         // empty: the default
};

// True if slurm.conf has Slurm check such limits.
[[nodiscard]] bool enforces_limits(const Record& site);

// The reply of the operation `limits`. Precedence and meaning of the limits are those of
// src/slurmctld/acct_policy.c and partition_mgr.c, 22.05 to 26.05. A limit is omitted if a job
// beyond it might run.
[[nodiscard]] nlohmann::json limits_json(const LimitFacts& facts);

}  // namespace slurm_plugin
