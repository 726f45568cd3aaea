// SPDX-License-Identifier: Apache-2.0
// Requests to a scheduler plug-in and its replies, as JSON (dtsubmit-plugins(7)). A member of a
// reply that is missing or has the wrong type reads as its default. Pure.
#pragma once

#include "core/sched/scheduler.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace dts::plugin {

[[nodiscard]] nlohmann::json to_json(const sched::Submission& job);

// The text of a request. Paths and environment variables need not be UTF-8.
[[nodiscard]] std::string dump(const nlohmann::json& request);

[[nodiscard]] sched::Phrases phrases_from(const nlohmann::json& object);
[[nodiscard]] sched::Expected expected_from(const nlohmann::json& object);
[[nodiscard]] sched::QueuedJob queued_from(const nlohmann::json& object);
[[nodiscard]] sched::JobInfo job_from(const nlohmann::json& object);
[[nodiscard]] sched::NodeInfo node_from(const nlohmann::json& object);
[[nodiscard]] sched::PartitionInfo partition_from(const nlohmann::json& object);
[[nodiscard]] sched::ConfigInfo config_from(const nlohmann::json& object);
[[nodiscard]] sched::QosInfo qos_from(const nlohmann::json& object);
[[nodiscard]] sched::SiteLimits limits_from(const nlohmann::json& object);
[[nodiscard]] sched::Settings settings_from(const nlohmann::json& object);

// Reads a member that is text.
[[nodiscard]] std::string text_in(const nlohmann::json& object, const char* key);

}  // namespace dts::plugin
