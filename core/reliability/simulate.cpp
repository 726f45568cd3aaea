// SPDX-License-Identifier: Apache-2.0
#include "core/reliability/simulate.hpp"

#include "core/base/random.hpp"
#include "core/reliability/nodes.hpp"
#include "core/reliability/progress.hpp"

#include <algorithm>
#include <optional>

namespace dts::reliability {
namespace {

enum class Cause { node, switches, preemption, corruption };
constexpr std::size_t k_causes = 4;
constexpr double k_never = 1e18;  // nanoseconds: 31 years

Nanoseconds exact(Seconds time) {
  return std::chrono::duration_cast<Nanoseconds>(time);
}

// A Poisson process that only advances on request. The distance to its next event is kept
// independently of the rate, which may change, so that all policies meet the same failures.
class Clock {
 public:
  Clock(std::uint64_t seed, std::uint64_t stream) : random_(seed, stream) { rewind(); }

  void set_rate(double per_second) { rate_ = per_second * 1e-9; }

  [[nodiscard]] Nanoseconds until_next() const {
    const double time = rate_ > 0 ? left_ / rate_ : k_never;
    return Nanoseconds(static_cast<std::int64_t>(std::min(time, k_never)));
  }

  void pass(Nanoseconds time) {
    left_ = std::max(0.0, left_ - rate_ * static_cast<double>(time.count()));
  }

  void rewind() { left_ = random_.exponential(); }

 private:
  Random random_;
  double rate_ = 0;  // per nanosecond
  double left_ = 0;
};

class Run {
 public:
  Run(const Model& model, std::uint64_t seed, std::uint64_t repetition);
  Outcome play();

 private:
  struct Step {
    Nanoseconds time;
    std::optional<Cause> cause;  // event that ended it
  };

  Clock& clock(Cause cause) { return clocks_[static_cast<std::size_t>(cause)]; }

  void count(Count what) { ++outcome_.count[static_cast<std::size_t>(what)]; }

  void spend(State state, Nanoseconds time);
  // Advances by `limit` at risk of failures, or to the first event.
  Step step(Nanoseconds limit, bool running);
  [[nodiscard]] bool infant_failed(Nanoseconds at);
  [[nodiscard]] Nanoseconds until_slow();
  [[nodiscard]] bool slow();
  std::optional<Cause> start();
  std::optional<Cause> run();
  void recover(Cause cause, bool running);
  [[nodiscard]] unsigned break_nodes(Cause cause);
  void requeue();

  const Model& model_;
  const Nanoseconds end_;
  Nanoseconds now_{0};
  Nodes nodes_;
  Progress progress_;
  std::array<Clock, k_causes> clocks_;
  Random draws_;       // which node fails, and whether as an infant
  Random slow_draws_;  // fail-slow nodes, in wall time
  double slow_rate_;   // per nanosecond
  Nanoseconds next_slow_{0};
  Nanoseconds slow_until_{0};
  Nanoseconds corruption_hidden_{0};  // running time until it is found
  Outcome outcome_;
};

// If a run makes no saves, its first save is scheduled after its end.
Nanoseconds exact_interval(const Model& model) {
  return exact(std::min(interval_of(model), model.wall + Seconds(1)));
}

Run::Run(const Model& model, std::uint64_t seed, std::uint64_t repetition)
    : model_(model),
      end_(exact(model.wall)),
      nodes_(model),
      progress_(exact_interval(model), exact(model.policy.save), model.failures.slow_factor),
      clocks_{Clock(seed, repetition * 8),
              Clock(seed, repetition * 8 + 1),
              Clock(seed, repetition * 8 + 2),
              Clock(seed, repetition * 8 + 3)},
      draws_(seed, repetition * 8 + 4),
      slow_draws_(seed, repetition * 8 + 5),
      slow_rate_(mean_rate(model.failures.slow_rate, model.nodes) * 1e-9) {
  const Rates all = rates(model);
  clock(Cause::node).set_rate(nodes_.rate() * model.failures.infant_factor);
  clock(Cause::switches).set_rate(all.switches);
  clock(Cause::preemption).set_rate(all.preemption);
  clock(Cause::corruption).set_rate(all.corruption);
  next_slow_ = until_slow();
}

void Run::spend(State state, Nanoseconds time) {
  time = std::min(time, end_ - now_);
  outcome_.time[static_cast<std::size_t>(state)] += time;
  now_ += time;
}

Run::Step Run::step(Nanoseconds limit, bool running) {
  Nanoseconds passed{0};
  // Nothing can be corrupted before anything is computed.
  const auto causes = static_cast<std::ptrdiff_t>(running ? k_causes : k_causes - 1);
  while (true) {
    const auto first = std::min_element(
        clocks_.begin(), clocks_.begin() + causes, [](const Clock& a, const Clock& b) {
          return a.until_next() < b.until_next();
        });
    const bool happens = first->until_next() < limit - passed;
    const Nanoseconds time = happens ? first->until_next() : limit - passed;
    for (auto one = clocks_.begin(); one != clocks_.begin() + causes; ++one) one->pass(time);
    passed += time;
    outcome_.at_risk += time;
    if (!happens) return {passed, std::nullopt};
    first->rewind();
    ++outcome_.events;
    const auto cause = static_cast<Cause>(first - clocks_.begin());
    if (cause != Cause::node || infant_failed(now_ + passed)) return {passed, cause};
  }
}

// Whether a failure drawn at the infants' rate also occurs at the current rate (thinning).
bool Run::infant_failed(Nanoseconds at) {
  const double most = model_.failures.infant_factor;
  if (most == 1) return true;
  const double age = static_cast<double>(at.count()) * 1e-9;
  const double youth = std::max(0.0, 1 - age / std::max(1e-9, model_.failures.infant_time.count()));
  return draws_.uniform() * most < 1 + (most - 1) * youth;
}

Nanoseconds Run::until_slow() {
  const double time = slow_rate_ > 0 ? slow_draws_.exponential() / slow_rate_ : k_never;
  return Nanoseconds(static_cast<std::int64_t>(std::min(time, k_never)));
}

// Whether a slow node slows the run now; also draws the episodes that have begun.
bool Run::slow() {
  for (; next_slow_ <= now_; next_slow_ += until_slow()) {
    const Seconds length = model_.failures.slow_time * slow_draws_.exponential();
    slow_until_ = std::max(slow_until_, next_slow_ + exact(length));
    count(Count::slow_episodes);
    ++outcome_.events;
  }
  return slow_until_ > now_;
}

std::optional<Cause> Run::start() {
  const Step starting = step(std::min(exact(model_.policy.start), end_ - now_), false);
  spend(State::starting, starting.time);
  return starting.cause;
}

std::optional<Cause> Run::run() {
  while (now_ < end_) {
    const bool is_slow = slow();
    Nanoseconds limit = std::min(end_, is_slow ? slow_until_ : next_slow_) - now_;
    if (progress_.corrupted()) limit = std::min(limit, corruption_hidden_);
    const Step running = step(limit, true);
    progress_.run(running.time, is_slow ? Progress::Pace::slow : Progress::Pace::full);
    now_ += running.time;
    corruption_hidden_ -= running.time;
    if (running.cause == Cause::corruption) {
      if (progress_.corrupted()) continue;  // the first corruption is found first
      progress_.corrupt();
      corruption_hidden_ = exact(model_.failures.corruption_latency);
    } else if (running.cause) {
      return running.cause;
    }
    if (progress_.corrupted() && corruption_hidden_.count() <= 0) return Cause::corruption;
  }
  return std::nullopt;
}

// Counts the failure; returns the number of nodes to replace.
unsigned Run::break_nodes(Cause cause) {
  if (cause == Cause::switches) {
    count(Count::switch_failures);
    return std::min(model_.failures.switch_nodes, model_.nodes);
  }
  if (cause == Cause::corruption) {
    count(Count::corruptions);
    return 1;
  }
  count(Count::node_failures);
  const Nodes::Failure failure = nodes_.draw(draws_);
  if (failure.lemon) count(Count::lemon_failures);
  if (failure.quarantined) {
    count(Count::quarantined);
    clock(Cause::node).set_rate(nodes_.rate() * model_.failures.infant_factor);
  }
  return 1;
}

void Run::recover(Cause cause, bool running) {
  if (cause == Cause::preemption) {
    count(Count::preemptions);
    if (saves_on_preemption(model_.policy)) {
      if (running) {
        spend(State::saving, exact(model_.policy.save));
        progress_.keep();
      }
    } else {
      progress_.lose();
    }
    return requeue();
  }
  cause == Cause::corruption ? progress_.roll_back() : progress_.lose();
  if (cause != Cause::corruption) spend(State::detecting, exact(model_.policy.detect));
  if (nodes_.replace(break_nodes(cause), now_))
    count(Count::spare_restarts);
  else
    requeue();
}

void Run::requeue() {
  count(Count::requeues);
  spend(State::queued, exact(model_.policy.requeue_delay));
  while (now_ < end_ && !nodes_.allocate(now_)) {
    ++outcome_.events;
    spend(State::down, *nodes_.next_repair() - now_);
  }
}

Outcome Run::play() {
  while (now_ < end_) {
    const auto stopped = start();
    const auto cause = stopped ? stopped : run();
    if (cause) recover(*cause, !stopped);
  }
  const Work work = progress_.work();
  const auto set = [&](State state, Nanoseconds time) {
    outcome_.time[static_cast<std::size_t>(state)] += time;
  };
  set(State::computing, work.computing);
  set(State::slow, work.slow);
  set(State::saving, work.saving);
  set(State::lost, progress_.lost());
  outcome_.count[static_cast<std::size_t>(Count::saves)] = progress_.saves();
  return outcome_;
}

}  // namespace

std::string_view to_string(State state) {
  constexpr std::array<std::string_view, k_states> k_names{
      "computing", "slow", "saving", "lost", "detecting", "queued", "down", "starting"};
  return k_names[static_cast<std::size_t>(state)];
}

std::string_view to_string(Count count) {
  constexpr std::array<std::string_view, k_counts> k_names{"node_failures",
                                                           "lemon_failures",
                                                           "quarantined",
                                                           "switch_failures",
                                                           "corruptions",
                                                           "preemptions",
                                                           "slow_episodes",
                                                           "spare_restarts",
                                                           "requeues",
                                                           "saves"};
  return k_names[static_cast<std::size_t>(count)];
}

Outcome simulate_once(const Model& model, std::uint64_t seed, std::uint64_t repetition) {
  return Run(model, seed, repetition).play();
}

}  // namespace dts::reliability
