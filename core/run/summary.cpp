// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary.hpp"

#include "core/base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace dts::run {
namespace {

using nlohmann::json;

AttemptSummary& attempt_of(RunSummary& summary, unsigned number) {
  const auto found = std::find_if(summary.attempts.begin(),
                                  summary.attempts.end(),
                                  [&](const AttemptSummary& a) { return a.number == number; });
  if (found != summary.attempts.end()) return *found;
  summary.attempts.emplace_back().number = number;
  return summary.attempts.back();
}

void take_event(RunSummary& summary, const Event& event) {
  if (event.job != 0) summary.job = event.job;
  if (event.attempt == 0) return;
  AttemptSummary& attempt = attempt_of(summary, event.attempt);
  if (event.event == "attempt_started") {
    attempt.started = event.time;
    attempt.nodes = event.nodes;
    attempt.job = event.job;
  } else if (event.event == "stop_requested") {
    if (attempt.cause.empty()) attempt.cause = event.cause;
  } else if (event.event == "straggler") {
    attempt.slow.push_back({event.rank, event.node, event.phase, event.detail});
  } else if (event.event == "binding") {
    attempt.binding.push_back(event.detail);
  } else if (event.event == "warning") {
    attempt.warnings.push_back(event.detail);
  } else if (event.event == "advised") {
    summary.advice = event.seconds;
    summary.advice_words = event.detail;
  } else if (event.event == "attempt_ended") {
    attempt.ended = event.time;
    attempt.cause = event.cause;
    attempt.exit_code = event.exit_code;
    attempt.detail = event.detail;
    attempt.checkpoint = event.checkpoint;
    attempt.rank = event.rank;
    attempt.node = event.node;
  } else if (event.event == "decided") {
    attempt.decision = event.decision;
    attempt.reason = event.detail;
    summary.done = event.decision == "done";
  }
}

constexpr double k_most_seconds = 1e9;
constexpr std::int64_t k_most_attempts = 1'000'000;
constexpr std::int64_t k_most_steps =
    1'000'000'000'000'000;  // so that sums of them do not overflow

// A member that is a whole number of at most `most`; -1 for anything else.
std::int64_t whole(const json& metric, const char* name, std::int64_t most) {
  const auto found = metric.find(name);
  if (found == metric.end() || !found->is_number_unsigned()) return -1;
  const auto value = found->get<std::uint64_t>();
  return value <= static_cast<std::uint64_t>(most) ? static_cast<std::int64_t>(value) : -1;
}

// A member that is a number of seconds; 0 for anything else.
double duration(const json& metric) {
  const auto found = metric.find("seconds");
  if (found == metric.end() || !found->is_number()) return 0;
  const auto value = found->get<double>();
  return value > 0 && value < k_most_seconds ? value : 0;
}

// The newest save, in case that the next line tells of a stop: then it was made for that.
struct LastSave {
  std::int64_t attempt = 0;
  std::int64_t step = -1;
  double seconds = 0;
};

void take_times(AttemptSummary& attempt, const json& metric, std::int64_t step, LastSave& last) {
  const std::string event = metric.value("event", "");
  const double seconds = duration(metric);
  if (event == "start") attempt.training = metric.value("time", "");
  if (event == "step") attempt.step_seconds += seconds;
  if (event == "save") {
    attempt.save_seconds += seconds;
    last = {attempt.number, step, seconds};
  }
  if (event == "stop" && last.attempt == attempt.number && last.step == step) {
    attempt.save_seconds = std::max(0.0, attempt.save_seconds - last.seconds);
    last = {};
  }
}

void take_metric(RunSummary& summary, const json& metric, LastSave& last) {
  if (!metric.is_object()) return;
  const auto number = whole(metric, "attempt", k_most_attempts);
  const auto step = whole(metric, "step", k_most_steps);
  if (number < 1 || step < 0) return;
  AttemptSummary& attempt = attempt_of(summary, static_cast<unsigned>(number));
  if (metric.value("event", "") == "start") {
    attempt.first_step = step;
    summary.total_steps = whole(metric, "total", k_most_steps);
  }
  attempt.said_done = attempt.said_done || metric.value("event", "") == "done";
  attempt.last_step = std::max(attempt.last_step, step);
  take_times(attempt, metric, step, last);
  if (metric.contains("digest")) summary.digest = metric.value("digest", "");
  if (metric.contains("accuracy")) summary.accuracy = metric.value("accuracy", -1.0);
}

}  // namespace

RunSummary summarise(const std::vector<Event>& events, const std::string& metrics) {
  RunSummary summary;
  for (const Event& event : events) take_event(summary, event);
  LastSave last;
  for (const std::string& line : split(metrics, '\n')) {
    try {
      const json metric = json::parse(line, nullptr, false);
      if (!metric.is_discarded()) take_metric(summary, metric, last);
    } catch (const json::exception&) {
      continue;  // a field of another type: not our line
    }
  }
  std::sort(summary.attempts.begin(), summary.attempts.end(), [](const auto& a, const auto& b) {
    return a.number < b.number;
  });
  // An attempt's work is lost as far as the next one that got to training began before its end.
  for (std::size_t i = 0; i < summary.attempts.size(); ++i) {
    AttemptSummary& attempt = summary.attempts[i];
    for (std::size_t next = i + 1; next < summary.attempts.size(); ++next) {
      if (summary.attempts[next].first_step < 0) continue;
      attempt.steps_lost =
          std::max<std::int64_t>(0, attempt.last_step - summary.attempts[next].first_step);
      break;
    }
    summary.steps_lost += attempt.steps_lost;
  }
  return summary;
}

}  // namespace dts::run
