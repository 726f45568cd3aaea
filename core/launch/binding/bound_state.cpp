// SPDX-License-Identifier: Apache-2.0
#include "core/launch/binding/bound_state.hpp"

#include "core/base/text/json_fields.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/number_list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::launch {
namespace {

using nlohmann::json;

constexpr unsigned k_most = 1'000'000;  // threads of one rank

// Reads the numbers of PUs or NUMA nodes.
std::vector<unsigned> cpus_of(const json& j, const char* key) {
  return numbers(j, key, k_highest_cpu);
}

unsigned amount(const json& j, const char* key) {
  return count(j, key, k_most);
}

std::optional<unsigned> if_known(const json& j, const char* key) {
  return j.contains(key) ? std::optional(amount(j, key)) : std::nullopt;
}

json to_json(const ThreadGroup& group) {
  return {{"program", group.program},
          {"name", group.name},
          {"cpus", fold_numbers(group.cpus)},
          {"threads", group.threads},
          {"working", group.working}};
}

ThreadGroup threads_from(const json& j) {
  return {j.at("program").get<std::string>(),
          j.at("name").get<std::string>(),
          cpus_of(j, "cpus"),
          amount(j, "threads"),
          amount(j, "working")};
}

BoundState state_from(const json& j) {
  BoundState state;
  state.inherited = cpus_of(j, "inherited");
  state.inherited_from = j.at("inherited_from").get<std::string>();
  state.cpus = cpus_of(j, "cpus");
  state.cgroup = cpus_of(j, "cgroup");
  state.allotted = amount(j, "allotted");
  const auto memory = plan::memory_policy_from(j.at("memory").get<std::string>());
  if (!memory) wrong_field("memory");
  state.memory = *memory;
  state.memory_error = j.at("memory_error").get<std::string>();
  state.memory_nodes = cpus_of(j, "memory_nodes");
  state.gpus_visible = if_known(j, "gpus_visible");
  state.gpus_open = if_known(j, "gpus_open");
  state.thread_places = j.value("thread_places", "");
  const auto threads = j.find("threads");
  if (threads == j.end()) return state;
  state.settled = true;
  state.cgroup_now = cpus_of(j, "cgroup_now");
  if (threads->get_ref<const json::array_t&>().size() > k_most_thread_groups)
    wrong_field("threads");
  for (const json& group : *threads) state.threads.push_back(threads_from(group));
  state.openmp = j.at("openmp").get<std::vector<std::string>>();
  state.places = j.at("places").get<std::vector<std::string>>();
  state.pages_on = cpus_of(j, "pages_on");
  return state;
}

}  // namespace

std::string to_text(const BoundState& state) {
  json j{{"inherited", fold_numbers(state.inherited)},
         {"inherited_from", state.inherited_from},
         {"cpus", fold_numbers(state.cpus)},
         {"cgroup", fold_numbers(state.cgroup)},
         {"allotted", state.allotted},
         {"memory", plan::to_text(state.memory)},
         {"memory_error", state.memory_error},
         {"memory_nodes", fold_numbers(state.memory_nodes)}};
  if (state.gpus_visible) j["gpus_visible"] = *state.gpus_visible;
  if (state.gpus_open) j["gpus_open"] = *state.gpus_open;
  if (!state.thread_places.empty()) j["thread_places"] = state.thread_places;
  if (state.settled) {
    j["cgroup_now"] = fold_numbers(state.cgroup_now);
    j["threads"] = json::array();
    for (const ThreadGroup& group : state.threads) j["threads"].push_back(to_json(group));
    j["openmp"] = state.openmp;
    j["places"] = state.places;
    j["pages_on"] = fold_numbers(state.pages_on);
  }
  return json_line(j);
}

Result<BoundState> parse_bound_state(std::string_view text) {
  try {
    return state_from(json::parse(text));
  } catch (const json::exception& error) {
    return fail(Errc::invalid, fmt::format("a rank's binding: {}", error.what()));
  }
}

}  // namespace dts::launch
