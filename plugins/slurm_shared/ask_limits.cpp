// SPDX-License-Identifier: Apache-2.0
// The operation `limits`, which asks for what limits_json() needs.
#include "core/base/text/text.hpp"
#include "plugins/slurm_shared/command.hpp"
#include "plugins/slurm_shared/limits.hpp"
#include "plugins/slurm_shared/operations.hpp"
#include "plugins/slurm_shared/qos.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace slurm_plugin {
namespace {

using Answer = std::future<Outcome<std::string>>;

// A submission waits for this no longer than that: without an answer nothing is said about limits.
constexpr std::chrono::seconds k_patience{3};

Answer ask(std::vector<std::string> words) {
  return std::async(std::launch::async, [words = std::move(words)]() mutable {
    return output_of(std::move(words), {}, k_patience);
  });
}

Answer ask_accounting(std::vector<std::string> more) {
  std::vector<std::string> words{"sacctmgr", "--noheader", "--parsable2", "--readonly", "show"};
  words.insert(words.end(), more.begin(), more.end());
  return ask(std::move(words));
}

// "fields" -> "format=fields"
std::string format_of(const char* fields) {
  return std::string("format=") + fields;
}

Record record_of(const json& settings) {
  Record record;
  for (const auto& [name, value] : settings.items()) record.add(name, value.get<std::string>());
  return record;
}

// A job in a federation may start on another cluster, which has limits of its own.
bool is_federated(const std::string& shown) {
  return shown.find("Federation:") != std::string::npos;
}

}  // namespace

// A plain user may read all of this, with PrivateData=accounts,users in slurmdbd.conf, too, except
// that the accounts above the user's own are hidden since 24.05.
Outcome<json> limits(const json& request) {
  const auto site = settings(json::object());
  if (!site) return tl::unexpected<Failure>(site.error());
  LimitFacts facts{.site = record_of(*site)};
  if (facts.site.text("AccountingStorageType") != "accounting_storage/slurmdbd")
    return json::object();
  const std::string user = user_name();
  if (user.empty()) return json::object();
  const std::string cluster = "clusters=" + facts.site.text("ClusterName");
  const std::string fields = format_of(k_association_limit_fields);
  Answer partitions = ask({"scontrol", "--all", "show", "partition"});
  Answer federation = ask({"scontrol", "show", "federation"});
  Answer all_qos = ask_accounting({"qos", format_of(k_qos_limit_fields)});
  Answer own = ask_accounting({"associations", cluster, "users=" + user, fields});
  Answer accounts = ask_accounting({"associations", cluster, "users=", fields});
  Answer account = ask_accounting({"user", "name=" + user, "format=DefaultAccount"});
  std::vector<std::string> texts;
  for (Answer* answer : {&partitions, &federation, &all_qos, &own, &accounts, &account}) {
    auto text = answer->get();
    if (!text) return tl::unexpected<Failure>(std::move(text).error());
    texts.push_back(*std::move(text));
  }
  if (is_federated(texts[1])) return json::object();
  facts.partitions = parse_records(texts[0]);
  facts.qos = parse_table(texts[2], k_qos_limit_fields);
  facts.own = parse_table(texts[3], k_association_limit_fields);
  facts.accounts = parse_table(texts[4], k_association_limit_fields);
  const std::string asked = request.value("account", std::string());
  facts.account = dts::in_lower_case(asked.empty() ? dts::trim(texts[5]) : asked);
  facts.qos_asked = dts::in_lower_case(request.value("qos", std::string()));
  return limits_json(facts);
}

}  // namespace slurm_plugin
