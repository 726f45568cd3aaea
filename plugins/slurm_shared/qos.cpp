// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/qos.hpp"

#include "core/base/text/text.hpp"
#include "plugins/slurm_shared/command.hpp"
#include "plugins/slurm_shared/operations.hpp"
#include "plugins/slurm_shared/record.hpp"

#include <nlohmann/json.hpp>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace slurm_plugin {
namespace {

enum QosColumn {
  k_qos_name,
  k_qos_preempt,
  k_qos_mode,
  k_qos_grace,
  k_qos_exempt,
  k_qos_wall,
  k_qos_flags,
  k_qos_columns
};

enum AssociationColumn { k_of_account, k_of_user, k_of_default, k_of_all, k_of_columns };

using Fields = std::vector<std::string>;

std::vector<Fields> lines_of(const std::string& printed, std::size_t columns) {
  std::vector<Fields> rows;
  for (const std::string& line : dts::split(printed, '\n'))
    if (Fields row = dts::split(line, '|'); row.size() == columns) rows.push_back(std::move(row));
  return rows;
}

Fields names_in(const std::string& list) {
  return list.empty() ? Fields{} : dts::split(list, ',');
}

// "cluster" and "" mean that slurm.conf decides.
std::optional<std::string> preemption_in(const std::string& mode) {
  for (const char* word : {"requeue", "cancel", "suspend"})
    if (dts::in_lower_case(mode).find(word) != std::string::npos) return word;
  return dts::in_lower_case(mode) == "off" ? std::optional<std::string>("none") : std::nullopt;
}

// The seconds of a time; 0 if it is not set, since seconds_of() returns -1 then.
std::int64_t length_of(const std::string& time) {
  return std::max<std::int64_t>(seconds_of(time), 0);
}

json qos_reply(const Fields& row, const std::string& default_name) {
  json reply{{"name", row[k_qos_name]},
             {"is_default", row[k_qos_name] == default_name},
             {"preempts", names_in(row[k_qos_preempt])},
             {"refuses_excess", row[k_qos_flags].find("DenyOnLimit") != std::string::npos},
             {"max_time_seconds", seconds_of(row[k_qos_wall])},
             {"grace_seconds", length_of(row[k_qos_grace])}};
  if (const auto word = preemption_in(row[k_qos_mode])) reply["preemption"] = *word;
  if (!row[k_qos_exempt].empty()) reply["exempt_seconds"] = length_of(row[k_qos_exempt]);
  return reply;
}

Outcome<std::string> shown(const char* what, std::vector<std::string> more) {
  std::vector<std::string> words{
      "sacctmgr", "--noheader", "--parsable2", "--readonly", "show", what};
  words.insert(words.end(), more.begin(), more.end());
  return output_of(std::move(words));
}

std::string format_of(const char* fields) {
  return std::string("format=") + fields;
}

// The user's default account; empty if there is none.
std::string account_of(const std::string& user) {
  const auto text = shown("user", {"name=" + user, "format=DefaultAccount"});
  return text ? std::string(dts::trim(*text)) : "";
}

}  // namespace

std::string user_name() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry != nullptr ? entry->pw_name : "";
}

json qos_json(const std::string& printed, const std::string& default_name) {
  json list = json::array();
  for (const Fields& row : lines_of(printed, k_qos_columns))
    list.push_back(qos_reply(row, default_name));
  return list;
}

std::string default_qos(const std::string& printed, const std::string& account) {
  const auto rows = lines_of(printed, k_of_columns);
  for (const Fields& row : rows) {
    if (row[k_of_user].empty() || row[k_of_account] != account) continue;
    if (!row[k_of_default].empty()) return row[k_of_default];
    if (const Fields all = names_in(row[k_of_all]); all.size() == 1) return all.front();
  }
  for (const Fields& row : rows)
    if (row[k_of_user].empty() && row[k_of_account] == "root" && !row[k_of_default].empty())
      return row[k_of_default];
  return "normal";
}

Outcome<json> qos(const json& request) {
  const auto printed = shown("qos", {format_of(k_qos_fields)});
  if (!printed) return tl::unexpected<Failure>(printed.error());
  const std::string user = user_name();
  const std::string asked = request.value("account", std::string());
  std::string associations;
  for (const auto& whose :
       {std::vector<std::string>{"users=" + user}, {"accounts=root", "users="}}) {
    std::vector<std::string> words = whose;
    words.push_back(format_of(k_association_fields));
    const auto some = shown("associations", std::move(words));
    if (!some) return tl::unexpected<Failure>(some.error());
    associations += *some;
  }
  return qos_json(*printed, default_qos(associations, asked.empty() ? account_of(user) : asked));
}

}  // namespace slurm_plugin
