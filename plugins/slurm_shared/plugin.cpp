// SPDX-License-Identifier: Apache-2.0
// The plug-in's only symbol: finds the operation, and converts its outcome to the reply's JSON.
// Compiled into each of Slurm's plug-ins, which define PLUGIN_NAME and PLUGIN_DESCRIPTION.
#include "core/base/text/json_text.hpp"
#include "core/plugin/dtsubmit_plugin.h"
#include "plugins/slurm_shared/alternatives.hpp"
#include "plugins/slurm_shared/job_words.hpp"
#include "plugins/slurm_shared/named_cluster.hpp"
#include "plugins/slurm_shared/operations.hpp"
#include "plugins/slurm_shared/reservation.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <string>
#include <string_view>

namespace slurm_plugin {
namespace {

struct Operation {
  std::string_view name;
  Outcome<json> (*run)(const json& request);
};

Outcome<void> check_cluster() {
  if (!names_clusters(std::getenv)) return {};
  const auto site = config(json::object());
  if (!site) return tl::unexpected<Failure>(site.error());
  return check_named_cluster(std::getenv, site->value("cluster_name", std::string()));
}

Outcome<json> submit_here(const json& request) {
  if (auto here = check_cluster(); !here) return tl::unexpected<Failure>(std::move(here).error());
  json job = request;
  const std::string left = leave_ending_reservations(job);
  auto submitted = submit(job);
  if (!submitted || left.empty()) return submitted;
  const std::string said = submitted->value("message", std::string());
  (*submitted)["message"] = "reservation " + left +
                            " is over, or nearly: the run continues outside it" +
                            (said.empty() ? "" : "; " + said);
  return submitted;
}

Outcome<json> expect_earliest(const json& request) {
  if (auto here = check_cluster(); !here) return tl::unexpected<Failure>(std::move(here).error());
  return earliest_start(request, std::time(nullptr), expect);
}

constexpr Operation k_operations[] = {
    {"submit", submit_here},
    {"expect", expect_earliest},
    {"job", job},
    {"find", find},
    {"queue", queue},
    {"nodes", nodes},
    {"partitions", partitions},
    {"config", config},
    {"settings", settings},
    {"qos", qos},
    {"limits", limits},
    {"version", version},
    {"cancel", cancel},
    {"requeue", requeue},
    {"forbid_requeue", forbid_requeue},
    {"exclude", exclude},
    {"signal_batch", signal_batch},
};

// Needs no configuration, and shows what would be used if there is none.
constexpr std::string_view k_without_opening = "version";

json phrases() {
  return {{"name", k_name},
          {"cancel", k_cancel},
          {"accounting", k_accounting},
          {"forgets", k_forgets},
          {"nodes_away", k_nodes_away},
          {"forecast", k_forecast},
          {"billing", k_billing}};
}

Outcome<json> run(std::string_view name, const json& request) {
  if (!request.is_object()) return failed("invalid", "the request is not a JSON object");
  const bool open_only = name == "open";
  if (name != k_without_opening)
    if (auto opened = open_slurm(open_only && request.value("probe", false)); !opened)
      return tl::unexpected<Failure>(std::move(opened).error());
  if (open_only) return phrases();
  for (const Operation& operation : k_operations)
    if (operation.name == name) return operation.run(request);
  return failed("invalid", "unknown operation '" + std::string(name) + "'");
}

Outcome<json> run_without_throwing(const char* name, const char* request) {
  try {
    return run(name, json::parse(request));
  } catch (const json::exception& error) {
    return failed("invalid", std::string("request '") + name + "': " + error.what());
  } catch (const std::exception& error) {
    return failed("internal", std::string("operation '") + name + "': " + error.what());
  }
}

std::string reply_text(const Outcome<json>& outcome) {
  json reply;
  if (outcome)
    reply["result"] = *outcome;
  else
    reply["error"] = {{"code", outcome.error().code},
                      {"message", outcome.error().message},
                      {"hint", outcome.error().hint},
                      {"other_release", outcome.error().other_release}};
  // Comments and paths may be in any encoding: bytes that are not UTF-8 become U+FFFD.
  return dts::json_line(reply);
}

char* call(const char* operation, const char* request) {
  try {
    const std::string text = reply_text(run_without_throwing(operation, request));
    return strdup(text.c_str());
  } catch (...) {
    return nullptr;  // out of memory: nothing else can throw here
  }
}

void release(char* reply) {
  std::free(reply);
}

constexpr dtsubmit_plugin k_plugin = {
    DTSUBMIT_PLUGIN_ABI,
    sizeof(dtsubmit_plugin),
    DTSUBMIT_PLUGIN_SCHEDULER,
    0,
    PLUGIN_NAME,
    "0.1.0",
    PLUGIN_DESCRIPTION,
    call,
    release,
};

}  // namespace
}  // namespace slurm_plugin

DTSUBMIT_PLUGIN_EXPORT const dtsubmit_plugin* dtsubmit_plugin_v1() {
  return &slurm_plugin::k_plugin;
}
