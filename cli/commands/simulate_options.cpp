// SPDX-License-Identifier: Apache-2.0
// A table of options and its interpreter.
#include "cli/commands/simulate_options.hpp"

#include "core/base/text/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace dts::cli {
namespace {

using reliability::Model;

constexpr const char* k_run = "Run";
constexpr const char* k_failures = "Failures (RATE: events per node in 1000 days)";
constexpr const char* k_policy = "Policy";

struct Setting {
  const char* group;
  const char* name;
  const char* value;
  const char* help;
  Result<void> (*set)(Model&, const std::string&);
};

using Text = const std::string&;

Result<void> set_count(unsigned& to, Text text) {
  const auto number = parse_number(text);
  if (!number || *number > std::numeric_limits<unsigned>::max())
    return fail(Errc::usage, fmt::format("`{}` is not a whole number", text));
  to = static_cast<unsigned>(*number);
  return {};
}

Result<void> set_number(double& to, Text text) {
  const auto number = parse_real(text);
  if (!number) return fail(Errc::usage, fmt::format("`{}` is not a number", text));
  to = *number;
  return {};
}

Result<void> set_time(Seconds& to, Text text) {
  DTS_ASSIGN(to, parse_duration(text));
  return {};
}

// Splits "a,b" into its two parts.
Result<std::vector<std::string>> two(Text text, const char* example) {
  auto parts = split(text, ',');
  if (parts.size() != 2)
    return fail(Errc::usage,
                fmt::format("`{}` is not two values separated by a comma", text),
                fmt::format("e.g. {}", example));
  return parts;
}

Result<void> set_preset(Model& model, Text text) {
  std::vector<std::string> names;
  for (const reliability::Preset& preset : reliability::presets()) {
    if (text == preset.name) {
      model.failures.node_rate = preset.node_rate;
      return {};
    }
    names.emplace_back(preset.name);
  }
  return fail(Errc::usage,
              fmt::format("`{}` is not a preset", text),
              fmt::format("one of {}", join(names, ", ")));
}

Result<void> set_lemons(Model& model, Text text) {
  DTS_ASSIGN(const auto parts, two(text, "0.01,20"));
  DTS_TRY(set_number(model.failures.lemon_share, parts[0]));
  return set_number(model.failures.lemon_factor, parts[1]);
}

Result<void> set_infants(Model& model, Text text) {
  DTS_ASSIGN(const auto parts, two(text, "5,7d"));
  DTS_TRY(set_number(model.failures.infant_factor, parts[0]));
  return set_time(model.failures.infant_time, parts[1]);
}

Result<void> set_switches(Model& model, Text text) {
  DTS_ASSIGN(const auto parts, two(text, "1.5,32"));
  DTS_TRY(set_number(model.failures.switch_rate, parts[0]));
  return set_count(model.failures.switch_nodes, parts[1]);
}

Result<void> set_slow(Model& model, Text text) {
  DTS_ASSIGN(const auto parts, two(text, "10,1h"));
  DTS_TRY(set_number(model.failures.slow_rate, parts[0]));
  return set_time(model.failures.slow_time, parts[1]);
}

Result<void> set_corruptions(Model& model, Text text) {
  DTS_ASSIGN(const auto parts, two(text, "0.05,10m"));
  DTS_TRY(set_number(model.failures.corruption_rate, parts[0]));
  return set_time(model.failures.corruption_latency, parts[1]);
}

Result<void> set_days(Model& model, Text text) {
  double days = 0;
  DTS_TRY(set_number(days, text));
  model.wall = Seconds(days * 86400);
  return {};
}

Result<void> set_interval(Model& model, Text text) {
  model.policy.checkpoint_every.reset();
  if (text == "auto") return {};
  DTS_ASSIGN(model.policy.checkpoint_every, parse_duration(text));
  return {};
}

// Reads a TIME: seconds, or a number with a unit (s, m, h, d).
const Setting k_settings[] = {
    {k_run,
     "--nodes",
     "N",
     "nodes that compute, not counting spares [2048]",
     [](Model& m, Text t) { return set_count(m.nodes, t); }},
    {k_run, "--days", "D", "length of the run in days [30]", set_days},
    {k_run,
     "--cluster-nodes",
     "N",
     "all nodes, including spares [unlimited]",
     [](Model& m, Text t) { return set_count(m.cluster_nodes, t); }},
    {k_run,
     "--repair",
     "TIME",
     "time to repair one of these [1d]",
     [](Model& m, Text t) { return set_time(m.repair, t); }},
    {k_failures, "--preset", "NAME", "llama3, rsc-1, rsc-2 or opt-175b [llama3]", set_preset},
    {k_failures,
     "--failure-rate",
     "RATE",
     "node failures, instead of a preset's rate",
     [](Model& m, Text t) { return set_number(m.failures.node_rate, t); }},
    {k_failures, "--lemons", "PART,X", "this part of the nodes fails X times as often", set_lemons},
    {k_failures,
     "--infants",
     "X,TIME",
     "X times as many failures at first, falling over TIME",
     set_infants},
    {k_failures,
     "--switch-failures",
     "RATE,N",
     "failures of switches with N nodes each",
     set_switches},
    {k_failures,
     "--fail-slow",
     "RATE,TIME",
     "slow nodes: all take 1.34 times as long, for TIME on average",
     set_slow},
    {k_failures,
     "--corruptions",
     "RATE,TIME",
     "silent data corruptions, found after TIME",
     set_corruptions},
    {k_failures,
     "--preemptions-per-day",
     "X",
     "preemptions of the run [0]",
     [](Model& m, Text t) { return set_number(m.failures.preemptions_per_day, t); }},
    {k_policy,
     "--checkpoint-every",
     "TIME",
     "computing time between saves [auto: by Daly 2006]",
     set_interval},
    {k_policy,
     "--save-time",
     "TIME",
     "time that a save takes [20]",
     [](Model& m, Text t) { return set_time(m.policy.save, t); }},
    {k_policy,
     "--spares",
     "K",
     "spare nodes to replace failed ones [0]",
     [](Model& m, Text t) { return set_count(m.policy.spares, t); }},
    {k_policy,
     "--requeue-delay",
     "TIME",
     "time in the queue [151, Slurm's minimum]",
     [](Model& m, Text t) { return set_time(m.policy.requeue_delay, t); }},
    {k_policy,
     "--detect",
     "TIME",
     "time until a failure is detected [30]",
     [](Model& m, Text t) { return set_time(m.policy.detect, t); }},
    {k_policy,
     "--start-time",
     "TIME",
     "time to start, load and warm up [60]",
     [](Model& m, Text t) { return set_time(m.policy.start, t); }},
    {k_policy,
     "--grace",
     "TIME",
     "usable warning time before a preemption [0]",
     [](Model& m, Text t) { return set_time(m.policy.grace, t); }},
    {k_policy,
     "--quarantine",
     "N",
     "exclude a node after N failures [0: never]",
     [](Model& m, Text t) { return set_count(m.policy.quarantine_after, t); }},
};

void apply(const Setting& setting, Text text, Model& model, Diagnostics& problems) {
  if (auto done = setting.set(model, text); !done)
    problems.push_back({setting.name, done.error().message, done.error().hint});
}

// A value with a comma cannot be part of a list.
bool is_settable(const Setting& setting, Settable settable) {
  if (setting.group == k_policy) return true;
  return settable == Settable::policy_and_failures && setting.group == k_failures &&
         std::string_view(setting.value).find(',') == std::string_view::npos;
}

}  // namespace

void add_model_options(CLI::App& verb, Typed& typed) {
  typed.resize(std::size(k_settings));
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const Setting& setting = k_settings[i];
    verb.add_option_function<std::string>(
            setting.name, [&typed, i](Text text) { typed[i] = text; }, setting.help)
        ->group(setting.group)
        ->type_name(setting.value);
  }
}

void set_model(const Typed& typed, Model& model, Diagnostics& problems) {
  model.failures.node_rate = reliability::presets().front().node_rate;
  for (std::size_t i = 0; i < typed.size(); ++i)
    if (typed[i]) apply(k_settings[i], *typed[i], model, problems);
  const auto given = [&](std::string_view name) {
    const auto* setting = std::find_if(
        std::begin(k_settings), std::end(k_settings), [&](auto& one) { return one.name == name; });
    const auto index = static_cast<std::size_t>(setting - k_settings);
    return index < typed.size() && typed[index].has_value();
  };
  if (given("--preset") && given("--failure-rate"))
    problems.push_back({"--failure-rate", "conflicts with --preset", "omit one of them"});
}

void set_by_names(const char* option,
                  const std::string& text,
                  Settable settable,
                  Model& model,
                  Diagnostics& problems) {
  std::vector<std::string> names;
  for (const Setting& setting : k_settings)
    if (is_settable(setting, settable)) names.emplace_back(setting.name + 2);
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const Setting* found = nullptr;
    for (const Setting& setting : k_settings)
      if (is_settable(setting, settable) && name == setting.name + 2) found = &setting;
    if (found != nullptr && equals != std::string::npos)
      apply(*found, part.substr(equals + 1), model, problems);
    else
      problems.push_back(
          {option,
           fmt::format("`{}` is not NAME=VALUE with one of the names that it takes", part),
           join(names, ", ")});
  }
}

}  // namespace dts::cli
