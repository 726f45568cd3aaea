// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm/partition_reply.hpp"

#include "plugins/slurm/printed.hpp"
#include "plugins/slurm/words.hpp"
#include "plugins/slurm_shared/billing.hpp"
#include "plugins/slurm_shared/memory.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace slurm_plugin {
namespace {

using nlohmann::json;

std::uint32_t limit(std::uint32_t number) {
  return number == INFINITE || number == NO_VAL ? 0 : number;
}

// The fields as scontrol prints them, which changes `info`.
Record record_of(partition_info_t& info) {
  const std::string text =
      printed([&](std::FILE* stream) { slurm_print_partition_info(stream, &info, 0); });
  const auto records = parse_records(text);
  return records.empty() ? Record() : records.front();
}

}  // namespace

json partition_reply(partition_info_t& info, const Record& site) {
  const bool unlimited = info.max_time == INFINITE || info.max_time == NO_VAL;
  json reply{{"name", text(info.name)},
             {"is_default", (info.flags & PART_FLAG_DEFAULT) != 0},
             {"up", info.state_up == PARTITION_UP},
             {"nodes", text(info.nodes)},
             {"max_time_seconds", unlimited ? std::int64_t{-1} : std::int64_t{info.max_time} * 60},
             {"default_time_seconds", std::int64_t{limit(info.default_time)} * 60},
             {"grace_seconds", info.grace_time == NO_VAL ? 0 : info.grace_time},
             {"preemption", preemption_word(info.preempt_mode)},
             {"gives_whole_nodes", info.max_share == 0},  // OverSubscribe=EXCLUSIVE
             {"min_nodes", limit(info.min_nodes)},
             {"max_nodes", limit(info.max_nodes)},
             {"max_cpus_per_node", limit(info.max_cpus_per_node)},
             {"billing", billing_json(text(info.billing_weights_str))}};
  add_memory(reply, record_of(info), site);
  return reply;
}

}  // namespace slurm_plugin
