// SPDX-License-Identifier: Apache-2.0
// Queries, which run one or two commands each.
#include "core/base/text/text.hpp"
#include "plugins/slurm_commands/load_job.hpp"
#include "plugins/slurm_commands/node_record.hpp"
#include "plugins/slurm_shared/accounting.hpp"
#include "plugins/slurm_shared/command.hpp"
#include "plugins/slurm_shared/config_reply.hpp"
#include "plugins/slurm_shared/job_record.hpp"
#include "plugins/slurm_shared/job_words.hpp"
#include "plugins/slurm_shared/operations.hpp"
#include "plugins/slurm_shared/request_text.hpp"
#include "plugins/slurm_shared/show_job.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace slurm_plugin {
namespace {

// The output of `scontrol show WHAT`.
Outcome<std::string> printed(const char* what) {
  return output_of({"scontrol", "--all", "show", what});
}

template <class Describe>
Outcome<json> list_of(const char* what, const Describe& describe) {
  const auto text = printed(what);
  if (!text) return tl::unexpected<Failure>(text.error());
  json list = json::array();
  for (const Record& record : parse_records(*text)) list.push_back(describe(record));
  return list;
}

// This user's jobs with a certain command: their numbers, and for tasks, those of their arrays.
struct Found {
  std::set<std::string> numbers;
  std::set<std::string> asked;  // one query for all tasks of an array
};

Outcome<Found> jobs_with(const std::string& command) {
  const auto text = output_of({"squeue",
                               "--all",
                               "--local",
                               "--noheader",
                               "--states=all",
                               "--user=" + std::to_string(getuid()),
                               "--format=%A %F %o"});
  if (!text) return tl::unexpected<Failure>(text.error());
  Found found;
  for (const std::string& line : dts::split(*text, '\n')) {
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', first + 1);
    if (second == std::string::npos || line.substr(second + 1) != command) continue;
    found.numbers.insert(line.substr(0, first));
    found.asked.insert(line.substr(first + 1, second - first - 1));
  }
  return found;
}

// A heterogeneous job is identified by the number of its first component.
bool is_later_component(const Record& job) {
  return job.number("HetJobOffset") > 0;
}

}  // namespace

Outcome<json> job(const json& request) {
  return or_accounted(job_reply(request), request);
}

Outcome<json> find(const json& request) {
  const auto found = jobs_with(bytes_of(request.at("command")));
  if (!found) return tl::unexpected<Failure>(found.error());
  std::vector<Record> jobs;
  for (const std::string& number : found->asked) {
    auto shown = show_job(number);
    if (!shown && shown.error().code == std::string_view("not_found")) continue;  // just forgotten
    if (!shown) return tl::unexpected<Failure>(shown.error());
    for (Record& job : *shown)
      if (found->numbers.contains(job.text("JobId")) && !is_later_component(job))
        jobs.push_back(std::move(job));
  }
  std::ranges::sort(jobs, {}, [](const Record& job) { return job.number("JobId"); });
  json list = json::array();
  for (const Record& job : jobs) list.push_back(job_reply(job));
  return list;
}

// Parses one line per job, as squeue prints it: id, state, partition, end and nodes, which may be
// empty.
Outcome<json> queue(const json&) {
  const auto text = output_of({"squeue",
                               "--all",
                               "--local",
                               "--noheader",
                               "--states=PENDING,RUNNING,SUSPENDED,CONFIGURING,COMPLETING,STOPPED",
                               "--format=%i|%T|%P|%S|%e|%l|%N"});
  if (!text) return tl::unexpected<Failure>(text.error());
  json list = json::array();
  for (const std::string& line : dts::split(*text, '\n')) {
    const auto fields = dts::split(line, '|');
    if (fields.size() != 7) continue;
    const bool waits = fields[1] == "PENDING";
    const auto start = dts::parse_number(fields[3]).value_or(0);
    const auto end = dts::parse_number(fields[4]).value_or(0);
    const bool is_bounded = !waits && !has_no_limit(start, end, seconds_of(fields[5]));
    list.push_back({{"id", fields[0]},
                    {"waits", waits},
                    {"partition", fields[2]},
                    {"nodes", fields[6]},
                    {"end_time", is_bounded ? end : 0}});
  }
  return list;
}

Outcome<json> nodes(const json&) {
  auto list = list_of("nodes", node_json);
  return list ? std::move(list) : or_hidden(std::move(list).error());
}

Outcome<json> partitions(const json&) {
  const auto text = printed("config");
  const Record site = text ? parse_config(*text) : Record();
  return list_of("partitions", [&](const Record& record) { return partition_json(record, site); });
}

Outcome<json> config(const json&) {
  const auto text = printed("config");
  if (!text) return tl::unexpected<Failure>(text.error());
  return config_json(parse_config(*text));
}

Outcome<json> settings(const json&) {
  const auto text = printed("config");
  if (!text) return tl::unexpected<Failure>(text.error());
  return settings_json(*text);
}

}  // namespace slurm_plugin
