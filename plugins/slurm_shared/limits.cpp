// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/limits.hpp"

#include "core/base/text/text.hpp"
#include "plugins/slurm_shared/config_reply.hpp"
#include "plugins/slurm_shared/limit_rows.hpp"
#include "plugins/slurm_shared/qos.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

namespace slurm_plugin {
namespace {

using nlohmann::json;

bool lists(const Record& record, std::string_view field, std::string_view word) {
  const auto items = dts::split(dts::in_lower_case(record.text(field)), ',');
  return std::any_of(items.begin(), items.end(), [&](const std::string& item) {
    return dts::trim(item) == dts::in_lower_case(word);
  });
}

const Record* named(const std::vector<Record>& all, const char* field, const std::string& name) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Record& one) { return one.text(field) == name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_set(const std::string& list) {
  return !list.empty() && list != "ALL";
}

// The beginning of a list, for a message.
std::string shortened(const std::string& list) {
  constexpr std::size_t k_longest = 120;
  return list.size() <= k_longest ? list : list.substr(0, k_longest) + "...";
}

// AllowAccounts, DenyAccounts, AllowQos and DenyQos of the partition. An allowed account allows
// those below it, too (since 23.02): `names` are the job's own and those above it.
void add_admission(const Record& partition,
                   const char* kind,
                   const char* of,
                   const std::vector<std::string>& names,
                   json& limits) {
  const std::string allow = std::string("Allow") + kind;
  const bool is_list_of_allowed = is_set(partition.text(allow));
  const std::string field = is_list_of_allowed ? allow : std::string("Deny") + kind;
  const std::string list = partition.text(field);
  const auto is_listed = [&](const std::string& name) {
    return is_list_of_allowed ? lists(partition, field, name)
                              : dts::is_one_of(dts::split(list, ','), name);
  };
  const bool is_denied = is_set(list) && is_listed(names.front());
  const bool is_allowed = std::any_of(names.begin(), names.end(), is_listed);
  if (is_list_of_allowed ? is_allowed : !is_denied) return;
  const std::string name = field + "=" + shortened(list);
  limits.push_back(
      {{"of", "every_job"},
       {"name", name},
       {"place",
        "partition " + partition.text("PartitionName") + " starts no job of " + of + " " +
            names.front() + " (" + name + ")"},
       {"instead", std::string("another --") + dts::in_lower_case(of) + " or --partition"}});
}

LimitPlace place_of(const Record& qos, const Record& partition, bool is_partitions) {
  const std::string name = "QOS " + qos.text("Name");
  return is_partitions ? LimitPlace{&qos,
                                    "partition " + partition.text("PartitionName") + "'s " + name,
                                    "another --partition"}
                       : LimitPlace{&qos, name, "another --qos"};
}

// The order in which acct_policy_set_qos_order() looks at the two QOS. Empty if the partition has
// one that is not known, which might override any limit.
std::vector<LimitPlace> qos_of(const Record& partition,
                               const LimitFacts& facts,
                               const Record& own) {
  std::vector<LimitPlace> places{place_of(own, partition, false)};
  const std::string name = dts::in_lower_case(partition.text("QoS"));  // as slurm.conf spells it
  if (name.empty() || name == "n/a") return places;
  const Record* other = named(facts.qos, "Name", name);
  if (other == nullptr) return {};
  if (other == &own) return places;
  const bool own_first = lists(own, "Flags", "OverPartQOS");
  places.insert(own_first ? places.end() : places.begin(), place_of(*other, partition, true));
  return places;
}

// The user's association with the account, and those above it.
std::vector<LimitPlace> associations_of(const LimitFacts& facts) {
  constexpr const char* k_instead = "another --account";
  std::vector<LimitPlace> places;
  for (const Record& one : facts.own) {
    if (one.text("Account") != facts.account || one.text("User").empty()) continue;
    // An account can be different in certain partitions, and a job's is that of its first one.
    if (!one.text("Partition").empty() || !places.empty()) return {};
    places.push_back({&one, "your association with account " + facts.account, k_instead});
  }
  if (places.empty()) return {};
  std::string account = facts.account;
  for (std::size_t depth = 0; depth < facts.accounts.size(); ++depth) {
    const Record* parent = named(facts.accounts, "Account", account);
    if (parent == nullptr) break;
    places.push_back({parent, "account " + account, k_instead});
    account = parent->text("ParentName");
  }
  return places;
}

// The job's account and all above it; empty if the user may not see all of them.
std::vector<std::string> accounts_of(const std::vector<LimitPlace>& associations) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < associations.size(); ++i)
    names.push_back(associations[i].record->text("Account"));
  return names.empty() || names.back() != "root" ? std::vector<std::string>() : names;
}

std::string default_qos_of(const LimitFacts& facts) {
  std::string text;
  for (const auto* all : {&facts.own, &facts.accounts})
    for (const Record& one : *all) {
      for (const char* field : {"Account", "User", "DefaultQOS"}) text += one.text(field) + "|";
      text += one.text("QOS") + "\n";
    }
  return default_qos(text, facts.account);
}

double factor_of(const std::vector<LimitPlace>& qos) {
  for (const LimitPlace& place : qos)
    if (const auto factor = dts::parse_real(place.record->text("LimitFactor")))
      return *factor > 0 ? *factor : 1;
  return 1;
}

// Slurm looks at a partition's accounts only if it enforces associations (since 23.02), and not at
// a list of allowed ones of which none exists any more.
bool admits_by_account(const Record& partition, const LimitFacts& facts) {
  constexpr std::string_view k_enforcing[] = {"associations", "limits", "safe", "qos", "wckeys"};
  const bool enforces =
      std::any_of(std::begin(k_enforcing), std::end(k_enforcing), [&](std::string_view word) {
        return lists(facts.site, "AccountingStorageEnforce", word);
      });
  const bool is_known =
      !is_set(partition.text("AllowAccounts")) ||
      std::any_of(facts.accounts.begin(), facts.accounts.end(), [&](const Record& one) {
        return lists(partition, "AllowAccounts", one.text("Account"));
      });
  return enforces && is_known;
}

json limits_in(const Record& partition,
               const LimitFacts& facts,
               const Record& qos,
               const std::vector<LimitPlace>& associations) {
  json limits = json::array();
  if (admits_by_account(partition, facts))
    if (const auto above = accounts_of(associations); !above.empty())
      add_admission(partition, "Accounts", "account", above, limits);
  add_admission(partition, "Qos", "QOS", {qos.text("Name")}, limits);
  if (!enforces_limits(facts.site)) return limits;
  LimitSources from{.qos = qos_of(partition, facts, qos), .associations = associations};
  if (from.qos.empty()) return limits;
  for (const LimitPlace& place : from.qos) {
    if (lists(*place.record, "Flags", "Relative")) return limits;  // percentages
    if (lists(*place.record, "Flags", "DenyOnLimit")) from.counts_usage = true;
  }
  from.factor = factor_of(from.qos);
  from.counts_usage = from.counts_usage || lists(facts.site, "AccountingStorageEnforce", "safe");
  from.counts_time = !lists(qos, "Flags", "UsageFactorSafe");
  from.whole_nodes = dts::in_lower_case(partition.text("OverSubscribe")) == "exclusive" ||
                     facts.site.text("SelectType") == "select/linear";
  add_limits(from, limits);
  return limits;
}

// A job_submit or cli_filter plug-in may give jobs another account, QOS or partition, or another
// size; these do not.
bool may_change_jobs(const Record& site) {
  return lists_other_plugins(site.text("JobSubmitPlugins"),
                             {"require_timelimit", "throttle", "logging", "pbs", "none"}) ||
         filters_jobs(site.text("CliFilterPlugins"));
}

}  // namespace

std::vector<Record> parse_table(const std::string& printed, const std::string& fields) {
  const auto names = dts::split(fields, ',');
  std::vector<Record> rows;
  for (const std::string& line : dts::split(printed, '\n')) {
    const auto values = dts::split(line, '|');
    if (values.size() != names.size()) continue;
    Record row;
    for (std::size_t i = 0; i < names.size(); ++i) row.add(names[i], values[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

bool enforces_limits(const Record& site) {
  return lists(site, "AccountingStorageEnforce", "limits") ||
         lists(site, "AccountingStorageEnforce", "safe");
}

json limits_json(const LimitFacts& facts) {
  json reply{{"may_change", may_change_jobs(facts.site)}, {"partitions", json::array()}};
  const auto associations = associations_of(facts);
  if (associations.empty()) return reply;
  // With PrivateData=users, accounts above the user's are hidden (since 24.05), and with them a
  // default QOS that they have.
  const bool is_default_known = associations.size() > 1 || !facts.qos_asked.empty() ||
                                !associations.front().record->text("DefaultQOS").empty();
  if (!is_default_known) return reply;
  const Record* qos =
      named(facts.qos, "Name", facts.qos_asked.empty() ? default_qos_of(facts) : facts.qos_asked);
  if (qos == nullptr) return reply;  // unknown, refused by Slurm, or several
  reply["lifts_time"] = lists(*qos, "Flags", "PartitionTimeLimit");
  reply["lifts_min_nodes"] = lists(*qos, "Flags", "PartitionMinNodes");
  reply["lifts_max_nodes"] = lists(*qos, "Flags", "PartitionMaxNodes");
  for (const Record& partition : facts.partitions)
    if (json limits = limits_in(partition, facts, *qos, associations); !limits.empty())
      reply["partitions"].push_back(
          {{"name", partition.text("PartitionName")}, {"limits", std::move(limits)}});
  return reply;
}

}  // namespace slurm_plugin
