// SPDX-License-Identifier: Apache-2.0
#include "core/launch/bound_state.hpp"

#include "core/base/number_list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::launch {
namespace {

using nlohmann::json;

constexpr unsigned k_most = 16383;  // PUs and NUMA nodes

[[noreturn]] void wrong(const char* key) {
  throw json::other_error::create(501, fmt::format("`{}` is not as it should be", key), nullptr);
}

// Lists are written as the kernel does: a node of 256 PUs in nine bytes.
std::vector<unsigned> numbers(const json& j, const char* key) {
  auto list = parse_number_list(j.at(key).get<std::string>(), k_most);
  if (!list) wrong(key);
  return *std::move(list);
}

unsigned amount(const json& value, const char* key) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > k_most * 64ULL) wrong(key);
  return value.get<unsigned>();
}

std::optional<unsigned> if_known(const json& j, const char* key) {
  const auto found = j.find(key);
  return found == j.end() ? std::nullopt : std::optional(amount(*found, key));
}

json to_json(const ThreadGroup& group) {
  return {{"program", group.program},
          {"name", group.name},
          {"cpus", fold_numbers(group.cpus)},
          {"threads", group.threads},
          {"working", group.working}};
}

ThreadGroup group_from(const json& j) {
  return {j.at("program").get<std::string>(),
          j.at("name").get<std::string>(),
          numbers(j, "cpus"),
          amount(j.at("threads"), "threads"),
          amount(j.at("working"), "working")};
}

BoundState state_from(const json& j) {
  BoundState state;
  state.inherited = numbers(j, "inherited");
  state.inherited_from = j.at("inherited_from").get<std::string>();
  state.cpus = numbers(j, "cpus");
  state.cgroup = numbers(j, "cgroup");
  state.allotted = amount(j.at("allotted"), "allotted");
  const auto memory = plan::memory_policy_from(j.at("memory").get<std::string>());
  if (!memory) wrong("memory");
  state.memory = *memory;
  state.memory_error = j.at("memory_error").get<std::string>();
  state.memory_nodes = numbers(j, "memory_nodes");
  state.gpus_visible = if_known(j, "gpus_visible");
  state.gpus_open = if_known(j, "gpus_open");
  const auto threads = j.find("threads");
  if (threads == j.end()) return state;
  state.settled = true;
  if (threads->get_ref<const json::array_t&>().size() > k_most_thread_groups) wrong("threads");
  for (const json& group : *threads) state.threads.push_back(group_from(group));
  state.openmp = j.at("openmp").get<std::vector<std::string>>();
  state.places = j.at("places").get<std::vector<std::string>>();
  state.pages_on = numbers(j, "pages_on");
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
  if (state.settled) {
    j["threads"] = json::array();
    for (const ThreadGroup& group : state.threads) j["threads"].push_back(to_json(group));
    j["openmp"] = state.openmp;
    j["places"] = state.places;
    j["pages_on"] = fold_numbers(state.pages_on);
  }
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<BoundState> parse_bound_state(std::string_view text) {
  try {
    return state_from(json::parse(text));
  } catch (const json::exception& error) {
    return fail(Errc::invalid, fmt::format("a rank's binding: {}", error.what()));
  }
}

}  // namespace dts::launch
