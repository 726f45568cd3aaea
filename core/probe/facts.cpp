// SPDX-License-Identifier: Apache-2.0
#include "core/probe/facts.hpp"

#include "core/base/text/json_bytes.hpp"
#include "core/base/text/json_fields.hpp"
#include "core/base/text/number_list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace dts::probe {
namespace {

using json = nlohmann::ordered_json;

constexpr double k_most_seconds = 1e12;

template <class T>
void put(json& object, const char* name, const std::optional<T>& value) {
  if (value) object[name] = *value;
}

double seconds_in(const nlohmann::json& value, const char* name) {
  const double seconds = value.is_number() ? value.get<double>() : NAN;
  if (!(std::abs(seconds) < k_most_seconds)) wrong_field(name);
  return seconds;
}

// Optional members of an object: absent ones leave the default.
class Members {
 public:
  explicit Members(const nlohmann::json& object) : object_(object) {}

  void read(const char* name, std::string& into) const {
    if (const auto* value = find(name)) into = bytes(*value, name);
  }

  void read(const char* name, std::optional<double>& into) const {
    if (const auto* value = find(name)) into = seconds_in(*value, name);
  }

  void read(const char* name, std::optional<std::uint64_t>& into) const {
    if (const auto* value = find(name)) into = whole<std::uint64_t>(*value, name);
  }

  void read(const char* name, std::optional<bool>& into) const {
    const auto* value = find(name);
    if (value == nullptr) return;
    if (!value->is_boolean()) wrong_field(name);
    into = value->get<bool>();
  }

  [[nodiscard]] const nlohmann::json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

 private:
  const nlohmann::json& object_;
};

Clocks clocks_in(const nlohmann::json& object) {
  return {seconds_in(object.at("offset"), "offset"),
          seconds_in(object.at("round_trip"), "round_trip"),
          count(object, "exchanges")};
}

Ssh ssh_in(const nlohmann::json& object) {
  std::optional<bool> works;
  Ssh ssh;
  Members(object).read("works", works);
  Members(object).read("said", ssh.said);
  ssh.works = works.value_or(false);
  return ssh;
}

Facts facts_in(const nlohmann::json& object) {
  Facts facts;
  facts.rank = count(object, "rank", k_most_ranks - 1);
  facts.world = count(object, "world", k_most_ranks);
  facts.machine_cores = count(object, "machine_cores", k_highest_cpu);
  facts.cores = numbers(object, "cores", k_highest_cpu);
  facts.reachable = numbers(object, "reachable", k_highest_cpu);
  const Members members(object);
  members.read("host", facts.host);
  members.read("other_host", facts.other_host);
  members.read("where", facts.where);
  members.read("trouble", facts.trouble);
  members.read("met_after", facts.met_after);
  members.read("file_after", facts.file_after);
  members.read("other_resolves", facts.other_resolves);
  members.read("memlock", facts.memlock);
  members.read("nofile", facts.nofile);
  members.read("scratch", facts.scratch);
  members.read("scratch_free", facts.scratch_free);
  members.read("warned_after", facts.warned_after);
  members.read("not_warned", facts.not_warned);
  if (const auto* clocks = members.find("clocks")) facts.clocks = clocks_in(*clocks);
  if (const auto* ssh = members.find("ssh")) facts.ssh = ssh_in(*ssh);
  return facts;
}

}  // namespace

std::string to_text(const Facts& facts) {
  json object{{"rank", facts.rank},
              {"world", facts.world},
              {"host", bytes_to_json(facts.host)},
              {"other_host", bytes_to_json(facts.other_host)},
              {"where", facts.where},
              {"trouble", bytes_to_json(facts.trouble)},
              {"machine_cores", facts.machine_cores},
              {"cores", fold_numbers(facts.cores)},
              {"reachable", fold_numbers(facts.reachable)},
              {"scratch", bytes_to_json(facts.scratch)},
              {"not_warned", bytes_to_json(facts.not_warned)}};
  put(object, "met_after", facts.met_after);
  put(object, "file_after", facts.file_after);
  put(object, "other_resolves", facts.other_resolves);
  put(object, "memlock", facts.memlock);
  put(object, "nofile", facts.nofile);
  put(object, "scratch_free", facts.scratch_free);
  put(object, "warned_after", facts.warned_after);
  if (facts.clocks)
    object["clocks"] = {{"offset", facts.clocks->offset},
                        {"round_trip", facts.clocks->round_trip},
                        {"exchanges", facts.clocks->exchanges}};
  if (facts.ssh)
    object["ssh"] = {{"works", facts.ssh->works}, {"said", bytes_to_json(facts.ssh->said)}};
  return object.dump() + "\n";
}

Result<Facts> parse_facts(std::string_view text) {
  try {
    return facts_in(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    return fail(Errc::invalid, fmt::format("what a rank of the probe wrote: {}", error.what()));
  }
}

std::string facts_file(const std::string& run, unsigned rank) {
  return fmt::format("{}/probe-{}.json", run, rank);
}

std::string token_file(const std::string& run, unsigned rank) {
  return fmt::format("{}/probe-{}.token", run, rank);
}

}  // namespace dts::probe
