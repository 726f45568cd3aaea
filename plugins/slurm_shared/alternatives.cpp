// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/alternatives.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace slurm_plugin {
namespace {

// max_switch_wait in SchedulerParameters, also the longest wait that a user can ask for.
constexpr std::chrono::seconds k_switch_wait{300};

constexpr const char* k_any_switches = "65535";

std::string option_of(const json& request, const char* name) {
  const auto options = request.find("options");
  return options == request.end() ? "" : options->value(name, "");
}

json with_option(json request, const char* name, const std::string& value) {
  request["options"][name] = value;
  return request;
}

// "[a|b]" -> a, b; empty for any other constraint.
std::vector<std::string> features_in(const std::string& constraint) {
  if (!constraint.starts_with('[') || !constraint.ends_with(']')) return {};
  const std::string inner = constraint.substr(1, constraint.size() - 2);
  if (inner.find_first_of("[]()&*,") != std::string::npos) return {};
  return dts::split(inner, '|');
}

// "1@0:30" -> 30 s.
std::chrono::seconds wait_for_switches(const std::string& switches) {
  const std::size_t at = switches.find('@');
  if (at == std::string::npos) return k_switch_wait;
  const auto asked = dts::parse_time_limit(std::string_view(switches).substr(at + 1));
  return asked ? std::min(*asked, k_switch_wait) : k_switch_wait;
}

std::int64_t start_in(const json& reply) {
  return reply.at("start_time").get<std::int64_t>();
}

Outcome<json> earlier_of(Outcome<json> a, Outcome<json> b) {
  const bool keeps_a = a && (!b || start_in(*a) <= start_in(*b));
  return keeps_a ? std::move(a) : std::move(b);
}

Outcome<json> with_one_feature(const json& request, const AskStart& ask) {
  Outcome<json> of_any = ask(request);
  const auto features = features_in(option_of(request, "constraint"));
  if (!of_any || features.size() < 2) return of_any;
  Outcome<json> best = ask(with_option(request, "constraint", features.front()));
  for (std::size_t i = 1; i < features.size(); ++i)
    best = earlier_of(std::move(best), ask(with_option(request, "constraint", features[i])));
  return best;
}

}  // namespace

Outcome<json> earliest_start(const json& request, std::int64_t now, const AskStart& ask) {
  Outcome<json> below_switches = with_one_feature(request, ask);
  const std::string switches = option_of(request, "switches");
  if (switches.empty()) return below_switches;
  // sbatch refuses 0, and without the option the script's own line would count.
  Outcome<json> anywhere = with_one_feature(with_option(request, "switches", k_any_switches), ask);
  if (!anywhere) return below_switches;
  const std::int64_t patience = wait_for_switches(switches).count();
  (*anywhere)["start_time"] = std::max(start_in(*anywhere), now + patience);
  return earlier_of(std::move(below_switches), std::move(anywhere));
}

}  // namespace slurm_plugin
