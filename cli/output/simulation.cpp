// SPDX-License-Identifier: Apache-2.0
#include "cli/output/simulation.hpp"

#include "core/base/text/json_text.hpp"
#include "core/reliability/expected.hpp"
#include "core/reliability/interval.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace dts::cli {
namespace {

using namespace reliability;

// A share with its unit, as to_text() prints it: "92.60 %".
std::string percent(double share) {
  return fmt::format("{:.2f} %", share * 100);
}

double kokolis(const SimulatedPolicy& policy) {
  return kokolis_ettr(policy.estimate.interval,
                      policy.model.policy.save,
                      mean_time_to_failure(policy.model),
                      mean_recovery(policy.model));
}

// The well-known formula of the paper holds only if all events are failures.
bool only_failures(const Model& model) {
  return model.failures.preemptions_per_day == 0 && model.failures.slow_rate == 0;
}

std::string header(const Simulation& simulation) {
  const Model& model = simulation.policies.front().model;
  const Seconds mttf = mean_time_to_failure(model);
  const Seconds interval = interval_of(model);
  std::string text = fmt::format("{} GPUs on {} nodes for {}; a node fails {} times in 1000 days\n",
                                 std::uint64_t{model.nodes} * simulation.gpus_per_node,
                                 model.nodes,
                                 format_duration(model.wall),
                                 model.failures.node_rate);
  text += fmt::format("mean time to failure {}; a save of {} every {}",
                      format_duration(mttf),
                      format_duration(model.policy.save),
                      format_duration(interval));
  const Seconds best = checkpoint_interval(model.policy.save, mttf);
  if (model.policy.checkpoint_every)
    return text + fmt::format(" (the best by Daly 2006: {})\n", format_duration(best));
  return text + fmt::format(" (Daly 2006; Young 1974: {})\n",
                            format_duration(young_interval(model.policy.save, mttf)));
}

std::string goodput(const SimulatedPolicy& policy) {
  const Estimate& e = policy.estimate;
  std::string text = fmt::format("\ngoodput        {:>8}  +- {} (95 %), the worst of {} runs {}\n",
                                 percent(e.goodput),
                                 percent(e.goodput_error),
                                 e.repetitions,
                                 percent(e.goodput_least));
  const auto expected = expected_goodput(policy.model);
  if (!expected) return text + "closed form           -  none for this model\n";
  text += fmt::format("closed form    {:>8}  renewal (after Daly 2006)", percent(*expected));
  if (only_failures(policy.model))
    text += fmt::format("; {} Kokolis et al. 2025", percent(kokolis(policy)));
  return text + "\n";
}

// Left: where the time goes; right: what happened. Omits events that never happened.
std::string table(const Estimate& e, Seconds wall) {
  std::vector<std::string> left, right;
  for (std::size_t i = 0; i < k_states; ++i) {
    const auto state = static_cast<State>(i);
    if (e.of(state).count() > 0)
      left.push_back(fmt::format("{:<12} {:>10} {:>10.1f}",
                                 to_string(state),
                                 percent(e.of(state) / wall),
                                 e.of(state).count() / 3600));
  }
  for (std::size_t i = 0; i < k_counts; ++i) {
    const auto what = static_cast<Count>(i);
    std::string name(to_string(what));
    std::replace(name.begin(), name.end(), '_', ' ');
    if (e.of(what) > 0) right.push_back(fmt::format("{:<16} {:>9.1f}", name, e.of(what)));
  }
  std::string text = fmt::format(
      "\n{:<12} {:>10} {:>10}   {:<16} {:>9}\n", "TIME", "SHARE", "HOURS", "EVENTS", "A RUN");
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::string line = fmt::format(
        "{:<34}   {}", i < left.size() ? left[i] : "", i < right.size() ? right[i] : "");
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string comparison(const std::vector<SimulatedPolicy>& policies) {
  std::string text = fmt::format("\n{:>9} {:>9} {:>8} {:>8} {:>8}  {:>9}  {}\n",
                                 "GOODPUT",
                                 "+-",
                                 "SAVING",
                                 "LOST",
                                 "WAITING",
                                 "SAVE EACH",
                                 "POLICY");
  for (const SimulatedPolicy& policy : policies) {
    const Estimate& e = policy.estimate;
    const Seconds waiting =
        e.of(State::detecting) + e.of(State::queued) + e.of(State::down) + e.of(State::starting);
    text += fmt::format("{:>9} {:>9} {:>8} {:>8} {:>8}  {:>9}  {}\n",
                        percent(e.goodput),
                        percent(e.goodput_error),
                        percent(e.of(State::saving) / policy.model.wall),
                        percent(e.of(State::lost) / policy.model.wall),
                        percent(waiting / policy.model.wall),
                        format_duration(e.interval),
                        policy.name);
  }
  return text;
}

// Rounds to a millionth: smaller digits depend on the machine's exp() and log(). Infinity becomes
// null.
nlohmann::ordered_json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::round(value * 1e6) / 1e6;
}

nlohmann::ordered_json to_json(const SimulatedPolicy& policy) {
  const Estimate& e = policy.estimate;
  const auto expected = expected_goodput(policy.model);
  nlohmann::ordered_json document{
      {"policy", policy.name},
      {"goodput", rounded(e.goodput)},
      {"goodput_error", rounded(e.goodput_error)},
      {"goodput_least", rounded(e.goodput_least)},
      {"expected_goodput", nullptr},
      {"mttf_s", rounded(mean_time_to_failure(policy.model).count())},
      {"interval_s", rounded(e.interval.count())},
      {"young_interval_s",
       rounded(
           young_interval(policy.model.policy.save, mean_time_to_failure(policy.model)).count())},
      {"kokolis_ettr", nullptr}};
  if (expected) document["expected_goodput"] = rounded(*expected);
  if (expected && only_failures(policy.model)) document["kokolis_ettr"] = rounded(kokolis(policy));
  for (std::size_t i = 0; i < k_states; ++i)
    document["time_s"][std::string(to_string(static_cast<State>(i)))] = rounded(e.time[i].count());
  for (std::size_t i = 0; i < k_counts; ++i)
    document["count"][std::string(to_string(static_cast<Count>(i)))] = rounded(e.count[i]);
  return document;
}

}  // namespace

std::string to_text(const Simulation& simulation) {
  const SimulatedPolicy& given = simulation.policies.front();
  std::string text = header(simulation) + goodput(given) + table(given.estimate, given.model.wall);
  if (simulation.policies.size() > 1) text += comparison(simulation.policies);
  return text;
}

std::string to_json(const Simulation& simulation) {
  const SimulatedPolicy& given = simulation.policies.front();
  nlohmann::ordered_json document{{"schema", "dtsubmit/simulate/1"},
                                  {"nodes", given.model.nodes},
                                  {"gpus_per_node", simulation.gpus_per_node},
                                  {"wall_s", rounded(given.model.wall.count())},
                                  {"seed", simulation.seed},
                                  {"repetitions", simulation.repetitions}};
  document["policies"] = nlohmann::ordered_json::array();
  for (const SimulatedPolicy& policy : simulation.policies)
    document["policies"].push_back(to_json(policy));
  return json_text(document);
}

}  // namespace dts::cli
