// SPDX-License-Identifier: Apache-2.0
// A second scheduler for tests: it accepts jobs, keeps them waiting in the file FAKESCHED_STATE,
// and has ids, words and commands that no real scheduler has. What dtsubmit says with it shows what
// dtsubmit itself knows about Slurm.
#include "core/plugin/dtsubmit_plugin.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace {

using nlohmann::json;

std::string state_path() {
  const char* path = std::getenv("FAKESCHED_STATE");
  return path != nullptr ? path : "/dev/null";
}

json read_jobs() {
  std::ifstream file(state_path());
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const json jobs = json::parse(text, nullptr, false);
  return jobs.is_array() ? jobs : json::array();
}

void write_jobs(const json& jobs) {
  std::ofstream(state_path()) << jobs.dump();
}

json result(json value) {
  return {{"result", std::move(value)}};
}

json error(const char* code, const std::string& message) {
  return {{"error", {{"code", code}, {"message", message}, {"hint", ""}}}};
}

json open_it() {
  return {{"name", "Fakesched"},
          {"cancel", "fakedel {job}"},
          {"accounting", "fakeacct {job} may know more"},
          {"forgets", "it forgets jobs at once"},
          {"nodes_away", "fakenodes shows why"}};
}

json submit(const json& request) {
  json jobs = read_jobs();
  const std::string id = "q" + std::to_string(jobs.size() + 7) + ".alpha";
  jobs.push_back({{"id", id},
                  {"command", request.value("script_path", "")},
                  {"state", "pending"},
                  {"reason", "tide"},
                  {"explanation", "the tide is out"},
                  {"advice", "fakerush {job}"},
                  {"partition", "shore"}});
  write_jobs(jobs);
  return result({{"id", id}});
}

// While this file exists, nobody answers about a job, which takes as long to find out as with
// Slurm.
bool is_away() {
  const bool away = std::ifstream(state_path() + ".away").good();
  if (away) std::this_thread::sleep_for(std::chrono::seconds(6));
  return away;
}

// Applies `change` to the job that the request names.
template <class Change>
json with_job(const json& request, const Change& change) {
  const std::string id = request.at("id").get<std::string>();
  if (is_away()) return error("unreachable", "the tide has taken the desk");
  if (id.front() != 'q') return error("invalid", "`" + id + "` is not a ticket of Fakesched");
  json jobs = read_jobs();
  for (json& job : jobs) {
    if (job["id"] != id) continue;
    const json reply = change(job);
    write_jobs(jobs);
    return reply;
  }
  return error("not_found", "no ticket " + id);
}

json cancel(json& job) {
  job["state"] = "cancelled";
  job["reason"] = "";
  job["explanation"] = "it was withdrawn";
  return result(json::object());
}

json requeue(json& job) {
  job["state"] = "pending";
  job["restart_count"] = job.value("restart_count", 0) + 1;
  return result(json::object());
}

json find(const json& request) {
  json found = json::array();
  for (const json& job : read_jobs())
    if (job["command"] == request.at("command")) found.push_back(job);
  return result(found);
}

json nodes() {
  return {{{"name", "rock1"}, {"state", "dry"}, {"cpus", 8}, {"gpus", 0}, {"memory_mib", 8000}},
          {{"name", "rock2"}, {"state", "wet"}, {"cpus", 8}, {"gpus", 0}, {"memory_mib", 8000}},
          {{"name", "rock3"}, {"state", "sunk"}, {"away", true}, {"lost", true}, {"cpus", 8}}};
}

json partitions() {
  return {{{"name", "shore"},
           {"is_default", true},
           {"nodes", "rock[1-3]"},
           {"max_time_seconds", -1},
           {"preemption", "requeue"}}};
}

json answer(const std::string& operation, const json& request) {
  if (operation == "open") return result(open_it());
  if (operation == "submit") return submit(request);
  if (operation == "find") return find(request);
  if (operation == "nodes") return result(nodes());
  if (operation == "partitions") return result(partitions());
  if (operation == "config") return result({{"version", "7"}, {"cluster_name", "beach"}});
  if (operation == "job") return with_job(request, [](const json& job) { return result(job); });
  if (operation == "cancel") return with_job(request, cancel);
  if (operation == "requeue") return with_job(request, requeue);
  if (operation == "exclude" || operation == "forbid_requeue" || operation == "signal_batch")
    return with_job(request, [](const json&) { return result(json::object()); });
  return error("invalid", "unknown operation");
}

char* call(const char* operation, const char* request) {
  return strdup(answer(operation, json::parse(request, nullptr, false)).dump().c_str());
}

void release(char* reply) {
  std::free(reply);
}

constexpr dtsubmit_plugin k_plugin = {DTSUBMIT_PLUGIN_ABI,
                                      sizeof(dtsubmit_plugin),
                                      DTSUBMIT_PLUGIN_SCHEDULER,
                                      0,
                                      "fakesched",
                                      "7",
                                      "a second scheduler for tests",
                                      call,
                                      release};

}  // namespace

DTSUBMIT_PLUGIN_EXPORT const dtsubmit_plugin* dtsubmit_plugin_v1() {
  return &k_plugin;
}
