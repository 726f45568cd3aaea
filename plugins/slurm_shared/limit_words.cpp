// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/limit_words.hpp"

#include <array>
#include <string>
#include <utility>

namespace slurm_plugin {
namespace {

// What a limit counts, by a keyword in its name; longer keywords first.
constexpr std::array<std::pair<std::string_view, const char*>, 17> k_resources{{
    {"SubmitJob", "submitted jobs"},
    {"WallDuration", "run time"},
    {"Wall", "run time"},
    {"Jobs", "running jobs"},
    {"Billing", "billing units"},
    {"Licenses", "licences"},
    {"License", "licences"},
    {"Energy", "energy"},
    {"Memory", "memory"},
    {"Mem", "memory"},
    {"GRES", "GPUs (or other generic resources)"},
    {"Node", "nodes"},
    {"CPU", "CPUs"},
    {"Cpu", "CPUs"},
    {"BB", "burst buffer"},
    {"Unknown", "some resource"},
    {"Job", "jobs"},
}};

bool names(std::string_view limit, std::string_view word) {
  return limit.find(word) != std::string_view::npos;
}

const char* resource_of(std::string_view limit) {
  for (const auto& [word, name] : k_resources)
    if (names(limit, word)) return name;
  return nullptr;
}

}  // namespace

// Names of limits consist of parts: QOS|Assoc, Grp|Max|Min, a resource, [Run]Minutes,
// PerJob|PerNode|PerUser|PerAccount.
std::optional<JobWords> words_of_limit(std::string_view reason) {
  const bool qos = reason.starts_with("QOS");
  const bool account = reason.starts_with("Assoc");
  const std::string_view rest = reason.substr(qos ? 3 : account ? 5 : 0);
  const bool per_account = rest.starts_with("Max") && rest.ends_with("PerAccount");
  const bool per_user = rest.starts_with("Max") && rest.ends_with("PerUser");
  if (!qos && !account && !per_account && !per_user) return std::nullopt;
  // "PerNode" and "PerJob" are not resources.
  const std::string_view limit = rest.substr(0, rest.find("Per"));
  const char* resource = resource_of(limit);
  if (resource == nullptr) return std::nullopt;
  const std::string counted =
      std::string(resource) +
      (names(limit, "Minutes") || names(limit, "Mins") ? ", in minutes of use" : "");
  const std::string owner = account ? "its account" : "its QOS";
  // Slurm gives the same reason to a job that alone is over the limit, and never starts it.
  const std::string wait_or_less =
      std::string(
          "wait for jobs under the same limit to end; if there are none, it will never "
          "start: compare it with `sacctmgr show ") +
      (account ? "associations user=$USER" : "qos") + "`, and submit it with less";
  if (rest.starts_with("Grp"))
    return JobWords{
        "with it, all jobs of " + owner + " together would use more than they may: " + counted,
        wait_or_less};
  if (per_account)
    return JobWords{
        "with it, the jobs of its account would use more than its QOS allows them: " + counted,
        wait_or_less};
  if (rest.starts_with("Min"))
    return JobWords{
        "it asks for less than " + owner + " demands of a job, and so will never start: " + counted,
        "dtsubmit cancel {job}, and submit it with more, or with another --qos"};
  if (!rest.starts_with("Max")) return std::nullopt;
  const bool of_user = names(rest, "PerUser") || names(limit, "Jobs") || names(limit, "SubmitJob");
  if (of_user)
    return JobWords{"with it, you would use more than " + owner + " allows one user: " + counted,
                    wait_or_less};
  return JobWords{
      "it asks for more than " + owner + " allows one job, and so will never start: " + counted,
      "dtsubmit cancel {job}, and submit it with less, or with another --qos or --account"};
}

}  // namespace slurm_plugin
