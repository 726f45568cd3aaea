// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/summary.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/run/ledger/policy.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace dts::run {
namespace {

using nlohmann::json;

// A summary under construction, with an index of its attempts, since there may be very many.
struct Draft {
  RunSummary summary{};
  std::unordered_map<unsigned, std::size_t> places{};
};

AttemptSummary& attempt_of(Draft& draft, unsigned number) {
  auto& attempts = draft.summary.attempts;
  const auto [place, is_new] = draft.places.emplace(number, attempts.size());
  if (is_new) attempts.emplace_back().number = number;
  return attempts[place->second];
}

// True if every rank saved when asked to, or itself asked to be run again, so that nothing is lost.
bool saved_for_stop(const AttemptEnded& ended) {
  const auto cause = ended.cause.value();
  if (!cause || ended.unsaved) return false;
  const Kind kind = kind_of(*cause);
  return kind == Kind::preempted || kind == Kind::signalled || kind == Kind::timeout ||
         kind == Kind::checkpointed || cause == Cause::completed || cause == Cause::stopped ||
         cause == Cause::no_restart;
}

// Applies each event to the summary of its attempt.
struct EventTaker {
  const Event& event;
  RunSummary& summary;
  AttemptSummary& attempt;

  void operator()(const AttemptStarted& started) {
    attempt = AttemptSummary{};  // an attempt that could not begin may have the same number
    attempt.number = event.attempt;
    attempt.started = event.time;
    attempt.nodes = started.nodes;
    attempt.job = event.job;
    attempt.resumable = started.checkpoint;
  }

  void operator()(const Staging& staging) { attempt.staging = staging.detail; }

  void operator()(const RanksStarted&) { attempt.staging.clear(); }

  void operator()(const Quiet& quiet) { attempt.quiet = quiet.detail; }

  void operator()(const Heard&) { attempt.quiet.clear(); }

  void operator()(const StopRequested& stop) {
    if (attempt.cause.empty()) attempt.cause = stop.cause;
  }

  void operator()(const Straggler& slow) {
    attempt.slow.push_back({slow.rank, slow.node, slow.phase, slow.detail});
  }

  void operator()(const Binding& binding) { attempt.binding.push_back(binding.detail); }

  void operator()(const Warning& warning) { attempt.warnings.push_back(warning.detail); }

  void operator()(const Advised& advised) { summary.advice = advised; }

  void operator()(const AttemptEnded& ended) {
    attempt.ended = event.time;
    attempt.makes_progress = attempt.makes_progress || ended.step.value_or(-1) > 0;
    attempt.quiet.clear();
    attempt.staging.clear();
    attempt.all_saved = saved_for_stop(ended);
    attempt.cause = ended.cause;
    attempt.exit_code = ended.exit_code;
    attempt.detail = ended.detail;
    attempt.checkpoint = ended.checkpoint;
    attempt.part = ended.part;
    attempt.rank = ended.rank;
    attempt.node = ended.node;
  }

  void operator()(const Decided& decided) {
    attempt.decision = decided.decision;
    attempt.reason = decided.detail;
    summary.done = decided.decision == Action::done;
  }

  void operator()(const auto&) {}  // the summary ignores it
};

void take_event(Draft& draft, const Event& event) {
  if (!event.job.empty()) draft.summary.job = event.job;
  const auto* const resumed = event.as<Resumed>();
  if (resumed != nullptr && !draft.summary.attempts.empty())
    draft.summary.attempts.back().continued = resumed->detail;
  if (event.attempt == 0) return;
  std::visit(EventTaker{event, draft.summary, attempt_of(draft, event.attempt)}, event.what);
}

constexpr std::size_t k_longest_digest = 128;
constexpr double k_most_seconds = 1e9;
constexpr std::int64_t k_most_attempts = 1'000'000;
constexpr std::int64_t k_latest_step = 1'000'000'000'000'000;  // so that their sums do not overflow

// A member that is a whole number up to `most`; -1 for anything else.
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

// The program's own text may be mixed with its metrics, so only a truncated metric counts as
// damage.
bool is_ours(std::string_view line) {
  return line.starts_with('{') || line.find('\0') != std::string_view::npos;
}

// The latest save. If the next line reports a stop, it was made for that stop.
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

void take_metric(Draft& draft, const json& metric, LastSave& last) {
  RunSummary& summary = draft.summary;
  if (!metric.is_object()) return;
  const auto number = whole(metric, "attempt", k_most_attempts);
  const auto step = whole(metric, "step", k_latest_step);
  if (number < 1 || step < 0) return;
  AttemptSummary& attempt = attempt_of(draft, static_cast<unsigned>(number));
  if (metric.value("event", "") == "start") {
    attempt.first_step = step;
    summary.total_steps = whole(metric, "total", k_latest_step);
  }
  attempt.said_done = attempt.said_done || metric.value("event", "") == "done";
  attempt.last_step = std::max(attempt.last_step, step);
  take_times(attempt, metric, step, last);
  if (metric.contains("digest"))
    summary.digest = printable(metric.value("digest", ""), k_longest_digest);
  if (metric.contains("accuracy")) summary.accuracy = metric.value("accuracy", -1.0);
}

void take_metrics(Draft& draft, std::string_view text) {
  LastSave last;
  unsigned number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    try {
      // A record that was appended to NULs is itself complete.
      const std::size_t nul = line.rfind('\0');
      const json metric =
          json::parse(nul == std::string_view::npos ? line : line.substr(nul + 1), nullptr, false);
      if (!metric.is_discarded()) take_metric(draft, metric, last);
      // The last line may still be being written.
      const bool is_cut = metric.is_discarded() && end != std::string_view::npos && is_ours(line);
      if (is_cut || nul != std::string_view::npos) draft.summary.damaged_metrics.push_back(number);
    } catch (const json::exception&) {
      continue;  // a field of another type: not one of our lines
    }
  }
}

// An attempt's work is lost if the next attempt that trained began before the step at which it
// ended.
void count_lost_steps(RunSummary& summary) {
  std::int64_t resumed_at = -1;
  for (auto attempt = summary.attempts.rbegin(); attempt != summary.attempts.rend(); ++attempt) {
    attempt->anew = attempt->first_step == 0 && !attempt->resumable.empty();
    if (attempt->last_step >= 0) {
      attempt->makes_progress = true;
      // If no attempt has followed, known only if everything was saved or nothing has ended yet.
      if (attempt->all_saved || attempt->ended.empty()) attempt->steps_lost = 0;
      if (resumed_at >= 0)
        attempt->steps_lost = std::max<std::int64_t>(0, attempt->last_step - resumed_at);
      summary.steps_lost = std::max<std::int64_t>(0, summary.steps_lost) +
                           std::max<std::int64_t>(0, attempt->steps_lost);
    }
    if (attempt->first_step >= 0) resumed_at = attempt->first_step;
  }
}

}  // namespace

RunSummary summarise(const std::vector<Event>& events, const std::string& metrics) {
  Draft draft;
  for (const Event& event : events) take_event(draft, event);
  take_metrics(draft, metrics);
  RunSummary& summary = draft.summary;
  std::sort(summary.attempts.begin(), summary.attempts.end(), [](const auto& a, const auto& b) {
    return a.number < b.number;
  });
  count_lost_steps(summary);
  return std::move(draft.summary);
}

}  // namespace dts::run
