// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/limit_rows.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace slurm_plugin {
namespace {

using nlohmann::json;

enum class Reach {
  qos,   // associations have no such limit
  user,  // the user's association has it, or has inherited it
  tree,  // associations of the user and of every account above have their own
};

// A limit on resources: its field, its name in sacctmgr(1), whose it is.
struct ResourceLimit {
  const char* field;
  const char* name;
  Reach reach;
  const char* gives;
  bool is_scaled = false;  // by LimitFactor, in associations
  bool is_per_node = false;
  bool is_with_time = false;
  bool is_least = false;
  bool is_of_usage = false;  // counts past jobs: a limit of one job only if that is checked first
};

constexpr const char* k_together = "gives all its jobs together";
constexpr const char* k_a_job = "gives a job";

constexpr ResourceLimit k_resource_limits[] = {
    {.field = "MaxTRES",
     .name = "MaxTRESPerJob",
     .reach = Reach::user,
     .gives = k_a_job,
     .is_scaled = true},
    {.field = "MaxTRESPerNode",
     .name = "MaxTRESPerNode",
     .reach = Reach::user,
     .gives = k_a_job,
     .is_per_node = true},
    {.field = "GrpTRES",
     .name = "GrpTRES",
     .reach = Reach::tree,
     .gives = k_together,
     .is_scaled = true},
    {.field = "MaxTRESPU",
     .name = "MaxTRESPerUser",
     .reach = Reach::qos,
     .gives = "gives all jobs of a user together"},
    {.field = "MaxTRESPA",
     .name = "MaxTRESPerAccount",
     .reach = Reach::qos,
     .gives = "gives all jobs of an account together"},
    {.field = "MinTRES",
     .name = "MinTRESPerJob",
     .reach = Reach::qos,
     .gives = "demands of a job",
     .is_least = true},
    {.field = "MaxTRESMins",
     .name = "MaxTRESMinsPerJob",
     .reach = Reach::user,
     .gives = k_a_job,
     .is_with_time = true},
    {.field = "GrpTRESRunMins",
     .name = "GrpTRESRunMins",
     .reach = Reach::tree,
     .gives = k_together,
     .is_with_time = true},
    {.field = "GrpTRESMins",
     .name = "GrpTRESMins",
     .reach = Reach::tree,
     .gives = k_together,
     .is_with_time = true,
     .is_of_usage = true},
};

// The value of one resource in "cpu=8,mem=100G"; empty: no limit.
std::string amount_of(const std::string& list, const std::string& resource) {
  for (const std::string& item : dts::split(list, ','))
    if (item.starts_with(resource + "=")) return item.substr(resource.size() + 1);
  return {};
}

std::vector<std::string> resources_in(const std::string& list) {
  std::vector<std::string> names;
  for (const std::string& item : dts::split(list, ','))
    if (const auto equals = item.find('='); equals != std::string::npos)
      names.push_back(item.substr(0, equals));
  return names;
}

constexpr std::string_view k_gpus = "gres/gpu";

// The members `of` and `gpu_type`; null for other resources than those.
json counted_by(const std::string& resource) {
  for (const auto& [name, of] :
       {std::pair{"node", "nodes"}, {"cpu", "cpus"}, {"mem", "memory"}, {"billing", "billing"}})
    if (resource == name) return {{"of", of}};
  if (resource == k_gpus) return {{"of", "gpus"}};
  if (resource.starts_with(std::string(k_gpus) + ":"))
    return {{"of", "gpus"}, {"gpu_type", resource.substr(k_gpus.size() + 1)}};
  return nullptr;
}

std::optional<std::uint64_t> number_of(const std::string& resource, const std::string& amount) {
  if (resource != "mem") return dts::parse_number(amount);
  const auto mib = dts::parse_memory_mib(amount);
  return mib ? std::optional(*mib) : std::nullopt;
}

json limit_of(const LimitPlace& place, std::string_view gives, const std::string& name) {
  return {
      {"name", name}, {"place", place.name + " " + std::string(gives)}, {"instead", place.instead}};
}

void add_resource(const ResourceLimit& row,
                  const LimitPlace& place,
                  const std::string& resource,
                  double factor,
                  json& limits) {
  const std::string amount = amount_of(place.record->text(row.field), resource);
  const auto number = number_of(resource, amount);
  const json counted = counted_by(resource);
  if (!number || counted.is_null()) return;
  json limit = limit_of(place, row.gives, std::string(row.name) + "=" + resource + "=" + amount);
  limit.update(counted);
  limit["amount"] = static_cast<std::uint64_t>(static_cast<double>(*number) * factor);
  if (factor != 1) limit["name"] = limit.value("name", "") + " times its QOS's LimitFactor";
  if (row.is_per_node) limit["per_node"] = true;
  if (row.is_least) limit["least"] = true;
  if (row.is_with_time) limit["with_time"] = true;
  limits.push_back(std::move(limit));
}

// The place among the QOS that sets this; nullptr: associations may.
const LimitPlace* first_with(const std::vector<LimitPlace>& qos,
                             const char* field,
                             const std::string& resource = {}) {
  for (const LimitPlace& place : qos) {
    const std::string text = place.record->text(field);
    if (resource.empty() ? !text.empty() : !amount_of(text, resource).empty()) return &place;
  }
  return nullptr;
}

void add_resources(const ResourceLimit& row, const LimitSources& from, json& limits) {
  for (const LimitPlace& place : from.qos)
    for (const std::string& resource : resources_in(place.record->text(row.field)))
      if (first_with(from.qos, row.field, resource) == &place)
        add_resource(row, place, resource, 1, limits);
  if (row.reach == Reach::qos) return;
  for (std::size_t i = 0; i < from.associations.size(); ++i) {
    if (i > 0 && row.reach != Reach::tree) break;
    const LimitPlace& place = from.associations[i];
    for (const std::string& resource : resources_in(place.record->text(row.field)))
      if (first_with(from.qos, row.field, resource) == nullptr)
        add_resource(row, place, resource, row.is_scaled ? from.factor : 1, limits);
  }
}

// The places whose limit `field` applies, given that a QOS with it overrides the associations.
std::vector<const LimitPlace*> that_set(const LimitSources& from, const char* field, Reach reach) {
  std::vector<const LimitPlace*> places;
  if (const LimitPlace* place = first_with(from.qos, field)) return {place};
  for (const LimitPlace& place : from.associations) {
    if (!place.record->text(field).empty()) places.push_back(&place);
    if (reach != Reach::tree) break;
  }
  return places;
}

void add_times(const LimitSources& from, json& limits) {
  const auto add = [&](const char* field, const char* gives, Reach reach) {
    for (const LimitPlace* place : that_set(from, field, reach)) {
      const std::string text = place->record->text(field);
      const std::int64_t seconds = seconds_of(text);
      if (seconds < 0) continue;
      json limit = limit_of(*place, gives, std::string(field) + "=" + text);
      limit["of"] = "time";
      limit["amount"] = seconds / 60;
      limits.push_back(std::move(limit));
    }
  };
  add("MaxWall", k_a_job, Reach::user);
  if (from.counts_usage) add("GrpWall", k_together, Reach::tree);
}

void add_number(const LimitPlace& place, const char* field, json& limits) {
  const auto most = dts::parse_number(place.record->text(field));
  if (!most) return;
  const std::string name = std::string(field) + "=" + std::to_string(*most);
  json limit = limit_of(place, "permits", name);
  limit["of"] = *most == 0 ? "every_job" : "elements";
  if (*most == 0) limit["place"] = place.name + " takes no job (" + name + ")";
  limit["amount"] = *most;
  limits.push_back(std::move(limit));
}

// The jobs that may be submitted. A limit of 0 running jobs (MaxJobs, GrpJobs) is how
// administrators stop an account for a while: such jobs may wait for its end.
void add_numbers(const LimitSources& from, json& limits) {
  constexpr const char* k_group = "GrpSubmit";
  for (const LimitPlace* place : that_set(from, k_group, Reach::tree))
    add_number(*place, k_group, limits);
  bool is_overridden = false;
  for (const char* field : {"MaxSubmitPU", "MaxSubmitPA"})
    if (const LimitPlace* place = first_with(from.qos, field)) {
      add_number(*place, field, limits);
      is_overridden = true;
    }
  if (!is_overridden && !from.associations.empty())
    add_number(from.associations.front(), "MaxSubmit", limits);
}

}  // namespace

void add_limits(const LimitSources& from, json& limits) {
  for (const ResourceLimit& row : k_resource_limits) {
    const bool may_be_met = row.is_least && from.whole_nodes;
    const bool is_unsure =
        (row.is_with_time && !from.counts_time) || (row.is_of_usage && !from.counts_usage);
    if (!may_be_met && !is_unsure) add_resources(row, from, limits);
  }
  if (from.counts_time) add_times(from, limits);
  add_numbers(from, limits);
}

}  // namespace slurm_plugin
