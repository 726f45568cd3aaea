// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/accounting.hpp"

#include "core/base/text/text.hpp"
#include "plugins/slurm_shared/command.hpp"
#include "plugins/slurm_shared/job_record.hpp"
#include "plugins/slurm_shared/record.hpp"

#include <nlohmann/json.hpp>
#include <pwd.h>

#include <string_view>
#include <utility>

namespace slurm_plugin {
namespace {

// The fields that sacct is asked for, in this order.
constexpr const char* k_sacct_fields = "JobID,State,ExitCode,Start,End,NodeList,Partition";

enum Column {
  k_column_id,
  k_column_state,
  k_column_exit,
  k_column_start,
  k_column_end,
  k_column_nodes,
  k_column_partition,
  k_column_count
};

// "CANCELLED by 1000" -> "ada"; empty if it does not name a user.
std::string canceller(const std::string& state) {
  constexpr std::string_view by = " by ";
  const std::size_t at = state.find(by);
  if (at == std::string::npos) return {};
  const std::string number = state.substr(at + by.size());
  const auto user = dts::parse_number(number);
  const passwd* entry = user ? ::getpwuid(static_cast<uid_t>(*user)) : nullptr;
  return entry != nullptr ? entry->pw_name : "user " + number;
}

json reply_of(const std::vector<std::string>& fields,
              const std::string& id,
              const std::string& state) {
  Record job;
  job.add("JobId", id);
  for (const auto& [name, field] : {std::pair{"JobState", k_column_state},
                                    {"ExitCode", k_column_exit},
                                    {"StartTime", k_column_start},
                                    {"EndTime", k_column_end},
                                    {"NodeList", k_column_nodes},
                                    {"Partition", k_column_partition}})
    if (fields[field] != "None assigned") job.add(name, fields[field]);
  json reply = job_json(job, state);
  reply["accounted"] = true;
  reply.erase("command");  // not asked for
  if (const std::string who = canceller(fields[k_column_state]); !who.empty())
    reply["explanation"] = "it was cancelled by " + who;
  return reply;
}

}  // namespace

json accounted_job(const std::string& printed, const std::string& id) {
  for (const std::string& line : dts::split(printed, '\n')) {
    const auto fields = dts::split(line, '|');
    if (fields.size() != k_column_count ||
        (fields[k_column_id] != id && fields[k_column_id] != id + "+0"))
      continue;
    const std::string state = state_word(fields[k_column_state]);
    const bool ended = state != "pending" && state != "running" && state != "suspended";
    return ended ? reply_of(fields, id, state) : json(nullptr);
  }
  return nullptr;
}

Outcome<json> or_accounted(Outcome<json> reply, const json& request) {
  if (reply || reply.error().code != std::string_view(meanings::k_no_job.code)) return reply;
  const std::string id = request.at("id").get<std::string>();
  const auto text = output_of({"sacct",
                               "--allocations",
                               "--noheader",
                               "--parsable2",
                               "--federation",
                               "--jobs=" + id,
                               std::string("--format=") + k_sacct_fields});
  if (!text) return reply;  // without accounting sacct fails
  json accounted = accounted_job(*text, id);
  if (accounted.is_null()) return reply;
  return accounted;
}

}  // namespace slurm_plugin
