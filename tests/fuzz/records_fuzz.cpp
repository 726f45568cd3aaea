// SPDX-License-Identifier: Apache-2.0
// What scontrol prints, or something else in its place: no text makes more records than it has
// lines, a reply is JSON whatever is in it, and a name that a user chose never becomes another
// field.
#include "core/base/text/json_text.hpp"
#include "plugins/slurm_commands/node_record.hpp"
#include "plugins/slurm_shared/billing.hpp"
#include "plugins/slurm_shared/config_reply.hpp"
#include "plugins/slurm_shared/expectation.hpp"
#include "plugins/slurm_shared/job_record.hpp"
#include "tests/support/fuzz.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

using dts::tests::must;
using namespace slurm_plugin;

DTS_FUZZ_TARGET(input) {
  const std::string text(input);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const auto records = parse_records(text);
  must(records.size() <= lines);
  for (const Record& record : records) {
    must(!record.fields().empty());
    const auto state = state_of(record, {1000, std::nullopt});
    const json job = job_json(record, state.value_or("running"));
    must(job["cpus"].is_array() && job["id"].is_string());
    (void)dts::json_line(job);
    (void)dts::json_line(node_json(record));
    (void)partition_json(record, record);
    (void)is_of(record, {1, 2, std::nullopt});
  }
  (void)config_json(parse_config(text));
  (void)settings_json(text);
  (void)dts::json_line(billing_json(text));
  if (const auto expectation = parse_expectation(text)) must(expectation->start_time != 0);
  // As a job's name: one line, and any bytes but a line break.
  const std::string name = text.substr(0, text.find('\n'));
  const auto named =
      parse_records("JobId=7 JobName=" + name + "\n   JobState=RUNNING Reason=None\n");
  must(named.size() == 1);
  must(named.front().text("JobState") == "RUNNING");
  must(named.front().number("JobId") == 7);
  must(named.front().fields().size() == 4);
}
