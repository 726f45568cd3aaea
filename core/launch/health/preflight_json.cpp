// SPDX-License-Identifier: Apache-2.0
// Converts a node's facts and report to and from lines of text.
#include "core/base/text/json_fields.hpp"
#include "core/base/text/json_text.hpp"
#include "core/launch/health/node_choice.hpp"
#include "core/launch/health/preflight.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace dts::launch {
namespace {

using nlohmann::json;

constexpr std::size_t k_most_gpus = 1024;

json to_json(const GpuFacts& gpu) {
  json j{{"pci", gpu.pci}};
  if (gpu.lost) j["lost"] = true;
  if (gpu.uncorrected) j["uncorrected"] = *gpu.uncorrected;
  if (gpu.retirement_pending) j["retirement_pending"] = true;
  if (gpu.remap_failed) j["remap_failed"] = true;
  if (gpu.throttling != 0) j["throttling"] = gpu.throttling;
  if (gpu.instances != 1) j["instances"] = gpu.instances;
  return j;
}

// nullopt if `key` is absent.
std::optional<std::uint64_t> amount(const json& j, const char* key) {
  const auto found = j.find(key);
  return found == j.end() ? std::nullopt : std::optional(whole<std::uint64_t>(*found, key));
}

int error_number(const json& j, const char* key) {
  return j.contains(key) ? static_cast<int>(count(j, key, 4095)) : 0;  // MAX_ERRNO of the kernel
}

bool flag(const json& j, const char* key) {
  const auto found = j.find(key);
  if (found != j.end() && !found->is_boolean()) wrong_field(key);
  return found != j.end() && found->get<bool>();
}

GpuFacts gpu_from(const json& j) {
  GpuFacts gpu;
  gpu.pci = j.at("pci").get<std::string>();
  gpu.lost = flag(j, "lost");
  gpu.uncorrected = amount(j, "uncorrected");
  gpu.retirement_pending = flag(j, "retirement_pending");
  gpu.remap_failed = flag(j, "remap_failed");
  gpu.throttling = amount(j, "throttling").value_or(0);
  gpu.instances = static_cast<unsigned>(std::min<std::uint64_t>(
      amount(j, "instances").value_or(1), std::numeric_limits<std::uint16_t>::max()));
  return gpu;
}

NodeFacts facts_from(const json& j) {
  NodeFacts facts;
  facts.write_errno = error_number(j, "write_errno");
  facts.run_free = amount(j, "run_free");
  facts.memory = amount(j, "memory");
  if (const auto tmp = j.find("tmp"); tmp != j.end()) facts.tmp = tmp->get<std::string>();
  facts.tmp_errno = error_number(j, "tmp_errno");
  facts.other_tmp = j.value("other_tmp", "");
  facts.shm_errno = error_number(j, "shm_errno");
  facts.shm_free = amount(j, "shm_free");
  facts.loopback_errno = error_number(j, "loopback_errno");
  facts.no_nvml = j.at("no_nvml").get<std::string>();
  const auto& gpus = j.at("gpus").get_ref<const json::array_t&>();
  if (gpus.size() > k_most_gpus) wrong_field("gpus");
  for (const json& gpu : gpus) facts.gpus.push_back(gpu_from(gpu));
  return facts;
}

json to_json(const NodeFacts& facts) {
  json j{{"write_errno", facts.write_errno},
         {"tmp", facts.tmp},
         {"tmp_errno", facts.tmp_errno},
         {"other_tmp", facts.other_tmp},
         {"shm_errno", facts.shm_errno},
         {"loopback_errno", facts.loopback_errno},
         {"no_nvml", facts.no_nvml}};
  if (facts.run_free) j["run_free"] = *facts.run_free;
  if (facts.memory) j["memory"] = *facts.memory;
  if (facts.shm_free) j["shm_free"] = *facts.shm_free;
  json gpus = json::array();
  for (const GpuFacts& gpu : facts.gpus) gpus.push_back(to_json(gpu));
  j["gpus"] = std::move(gpus);
  return j;
}

}  // namespace

std::string to_text(const NodeFacts& facts) {
  return json_line(to_json(facts));
}

std::string to_text(const NodeReport& report) {
  return json_line(json{{"node", report.node},
                        {"milliseconds", report.milliseconds},
                        {"facts", to_json(report.facts)}});
}

Result<NodeFacts> parse_node_facts(std::string_view text) {
  try {
    return facts_from(json::parse(text));
  } catch (const json::exception& error) {
    return fail(Errc::invalid, fmt::format("a node's facts: {}", error.what()));
  }
}

Result<NodeReport> parse_node_report(std::string_view line) {
  try {
    const json j = json::parse(line);
    return NodeReport{j.at("node").get<std::string>(),
                      whole<std::int64_t>(j.at("milliseconds"), "milliseconds"),
                      facts_from(j.at("facts"))};
  } catch (const json::exception& error) {
    return fail(Errc::invalid, fmt::format("a node's report: {}", error.what()));
  }
}

}  // namespace dts::launch
