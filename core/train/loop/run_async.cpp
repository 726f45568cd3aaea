// SPDX-License-Identifier: Apache-2.0
// Asynchronous steps: between synchronisations each rank continues with its own work as far as the
// bound on staleness allows. At a synchronisation every gradient has been applied and all ranks get
// the complete state, so that everything that may follow a synchronous step can follow.
#include "core/base/text/counted.hpp"
#include "core/train/checkpoint/save_rule.hpp"
#include "core/train/device/kernels.hpp"
#include "core/train/loop/not_finite.hpp"
#include "core/train/loop/run.hpp"
#include "core/train/loop/stop.hpp"
#include "core/train/server/parameter_server.hpp"
#include "core/train/server/received_signs.hpp"
#include "core/train/server/step_tails.hpp"
#include "core/train/server/worker.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace dts::train {

class Run::Asynchrony {
 public:
  explicit Asynchrony(Run& run);

  // Collective.
  Next stretch();

  [[nodiscard]] const Roles& roles() const { return roles_; }

  [[nodiscard]] const StepTails::Step& ended() const { return ended_; }

 private:
  // Plain data, sent between ranks.
  struct Signed {
    std::uint64_t signs = 0;
    std::uint64_t saves = 0;
    std::array<char, 120> what{};  // the value that is not finite
  };

  [[nodiscard]] ParameterServer::Hooks hooks();
  [[nodiscard]] std::uint64_t next_sync() const;
  void begin_step(bool first);
  void end_step();
  void inject(float* received, Range floats) const;
  void find_changed(int peer);
  void work(std::uint64_t sync);
  void serve(std::uint64_t sync);
  void take(const ParameterServer::Arrival& arrival);
  void apply(const ParameterServer::Arrival& arrival);
  void end_served_step();
  [[nodiscard]] bool wants_sync() const;
  [[nodiscard]] std::uint32_t signs() const;
  Next meet();

  Run& run_;
  Roles roles_;
  bool sealed_;
  Range own_;  // floats of the parameters that this rank owns
  std::optional<ParameterServer> server_;
  std::optional<Worker> worker_;
  StepTails tails_;        // on the first server
  StepTails::Step ended_;  // the latest one
  // During this stretch, on servers:
  std::uint64_t applied_ = 0;  // number of gradients since the training began
  bool is_over_ = false;       // the current step is; what arrives now belongs to the next
  ReceivedSigns received_signs_;
  bool is_broken_ = false;  // also on workers: arriving gradients are no longer applied
  bool saves_ = false;
  std::string what_;
  Clock::time_point step_began_;
};

Run::Asynchrony::Asynchrony(Run& run)
    : run_(run),
      roles_(
          run.layout_,
          {run.comm_.size(), static_cast<int>(run.options_.servers)},
          run.update_->is_node_first() ? Hierarchy(run.comm_.nodes()) : Hierarchy(run.comm_.size()),
          static_cast<int>(run.options_.shards)),
      sealed_(run.options_.verify_every != 0),
      own_(roles_.slice_of(run.comm_.rank())),
      tails_(run.layout_.tail_floats(), 0),
      received_signs_(0) {
  const auto worker = roles_.worker_of(run.comm_.rank());
  Group node = run.comm_.split(worker ? static_cast<int>(*worker) : -1);
  if (worker)
    worker_.emplace(run.comm_, std::move(node), roles_, run.layout_, sealed_);
  else
    server_.emplace(run.comm_,
                    roles_,
                    run.layout_,
                    ParameterServer::Settings{*run.options_.staleness, sealed_},
                    hooks());
}

ParameterServer::Hooks Run::Asynchrony::hooks() {
  ParameterServer::Hooks made;
  made.apply = [this](const ParameterServer::Arrival& arrival) { take(arrival); };
  made.weights = [this] { return run_.state_.weights.data() + own_.begin; };
  made.signs = [this] { return signs(); };
  if (run_.comm_.rank() == 0) made.wants_sync = [this] { return wants_sync(); };
  return made;
}

// The next synchronisation that is known in advance; only rank 0's value counts.
std::uint64_t Run::Asynchrony::next_sync() const {
  const Options& options = run_.options_;
  std::uint64_t next = run_.schedule_.total;
  const auto meet_every = [&](std::uint64_t steps) {
    if (steps != 0) next = std::min(next, (run_.state_.step / steps + 1) * steps);
  };
  meet_every(options.verify_every);
  meet_every(options.evaluate_every == 0 ? run_.steps_per_epoch_ : options.evaluate_every);
  const bool is_advised = run_.beat_ && run_.beat_->checkpoint_every_milliseconds() > 0;
  if (options.save_every || !is_advised)
    meet_every(options.save_every.value_or(SaveRule::k_unadvised));
  return next;
}

void Run::Asynchrony::begin_step(bool first) {
  if (run_.trace_ && !first) run_.trace_->add(run_.timeline_, run_.begun_);
  run_.timeline_.clear();
  run_.begun_ = run_.state_.step + 1;
  run_.inject();
}

// For tests: changes what arrives for these floats of the parameters.
void Run::Asynchrony::inject(float* received, Range floats) const {
  const auto& fault = run_.options_.injection;
  if (!fault || fault->rank != run_.comm_.rank()) return;
  if (!fault->is_due(Injection::Target::message, run_.state_.step)) return;
  if (floats.has(fault->element)) flip_bit(received[fault->element - floats.begin]);
}

void Run::Asynchrony::find_changed(int peer) {
  is_broken_ = true;
  run_.update_->record_damaged_slice(peer);
}

void Run::Asynchrony::end_step() {
  change_ballast(run_.state_);
  ++run_.state_.step;
  if (run_.beat_) run_.beat_->beat(run_.state_.step);
}

void Run::Asynchrony::work(std::uint64_t sync) {
  const std::uint64_t begin = run_.state_.step;
  worker_->begin(sync);
  while (run_.state_.step < worker_->sync()) {
    begin_step(run_.state_.step == begin);
    const Clock::time_point start = Clock::now();
    run_.delay();
    StepInput in = run_.input();
    in.timeline = &run_.timeline_;
    in.with_squares = false;
    const Partials mine = run_.backend_->sum(in, worker_->shards());
    float* const tail = mine.begin()->second + run_.layout_.parameter_floats;
    run_.set_flags(tail);
    const std::chrono::duration<double, std::milli> worked = Clock::now() - start;
    if (run_.beat_) run_.beat_->worked(static_cast<std::uint64_t>(worked.count()));
    tail[run_.layout_.in_tail(Scalar::damage)] = is_broken_ ? 1.0F : 0.0F;
    worker_->exchange(run_.state_.step, mine, run_.state_.weights.data());
    float* const weights = run_.state_.weights.data();
    inject(weights, {0, run_.layout_.parameter_floats});
    if (const auto server = worker_->changed(weights); server && !is_broken_) find_changed(*server);
    end_step();
  }
}

void Run::Asynchrony::serve(std::uint64_t sync) {
  tails_ = StepTails(run_.layout_.tail_floats(), run_.state_.step);
  applied_ = (run_.state_.step - run_.state_.skipped) * roles_.workers().size();
  received_signs_ = ReceivedSigns(roles_.workers().size());
  is_over_ = saves_ = false;
  step_began_ = Clock::now();
  begin_step(true);
  server_->serve(run_.state_.step, sync);
}

void Run::Asynchrony::take(const ParameterServer::Arrival& arrival) {
  if (std::exchange(is_over_, false)) begin_step(false);
  if (!is_broken_) apply(arrival);
  if (arrival.tail != nullptr) {
    tails_.add(arrival.step, arrival.tail, arrival.staleness);
    received_signs_.receive(arrival.worker, run_.layout_, arrival.tail);
  }
  while (run_.state_.step < server_->completed()) end_served_step();
}

void Run::Asynchrony::apply(const ParameterServer::Arrival& arrival) {
  const Timed optimizing(run_.timeline_.track(0), Phase::optimizer);
  const int rank = roles_.workers()[arrival.worker].front();
  inject(arrival.gradients, own_);
  if (sealed_ && checksum(arrival.gradients, own_.size()) != arrival.checksum)
    return find_changed(rank);
  const double lr = learning_rate(run_.schedule_, arrival.step);
  const PartOfStep part = part_of_step(
      *run_.options_.optimizer, run_.options_.optimization, roles_.share_of(arrival.worker));
  const auto ended = run_.update_->serve(part, {lr, ++applied_}, arrival.gradients, run_.state_);
  if (ended == ShardedUpdate::Ended::well) return;
  is_broken_ = true;
  if (ended == ShardedUpdate::Ended::not_finite)
    what_ = fmt::format("{} (of rank {})", run_.update_->what_is_not_finite(), rank);
}

// All workers have completed the step. Its statistics come from weights that may differ by worker.
void Run::Asynchrony::end_served_step() {
  is_over_ = true;
  if (run_.comm_.rank() != 0) return end_step();
  const double lr = learning_rate(run_.schedule_, run_.state_.step);
  ended_ = tails_.take();
  const float* const tail = ended_.tail.data();
  if (const auto wrong = first_not_finite_of_tail(run_.layout_, tail); wrong && !is_broken_) {
    is_broken_ = true;
    what_ = *wrong;
  }
  saves_ = saves_ || run_.save_is_due();
  const ShardShape shape{roles_.shards(), run_.options_.micro_batch()};
  update_statistics(run_.layout_, tail, shape, run_.state_.running);
  end_step();
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> took = now - std::exchange(step_began_, now);
  if (!is_broken_) run_.report_step(tail, lr, took.count());
}

std::uint32_t Run::Asynchrony::signs() const {
  return (stop_signal() != 0 ? k_stop_sign : 0U) | (run_.report_.status() ? 0U : k_error_sign) |
         (run_.checkpoints_.busy() ? k_writing_sign : 0U) | (is_broken_ ? k_broken_sign : 0U);
}

bool Run::Asynchrony::wants_sync() const {
  return saves_ || received_signs_.is_urgent(signs()) ||
         (run_.checkpoints_.are_under_way() && received_signs_.all_have_written(signs()));
}

// No message between ranks may be in flight.
Run::Next Run::Asynchrony::meet() {
  const bool is_whole = run_.update_->publish(run_.state_);
  Buffer& running = run_.state_.running;
  run_.comm_.broadcast(running.data(), running.size() * sizeof(float));
  Signed mine{signs(), saves_ ? 1U : 0U, {}};
  std::copy_n(what_.begin(), std::min(what_.size(), mine.what.size() - 1), mine.what.begin());
  std::uint64_t signs = 0;
  std::uint64_t saves = 0;
  for (const Signed& one : run_.comm_.gather(mine)) {
    signs |= one.signs;
    saves |= one.saves;
    if (one.what.front() != '\0') run_.not_finite_ = one.what.data();
  }
  run_.ranks_write_ = (signs & k_writing_sign) != 0;
  if ((signs & k_error_sign) != 0) return Next::fail;
  if (!is_whole) return Next::damaged;
  if ((signs & k_broken_sign) != 0) return Next::not_finite;
  if ((signs & k_stop_sign) != 0) return Next::stop;
  return saves != 0 ? Next::save : Next::step;
}

Run::Next Run::Asynchrony::stretch() {
  std::uint64_t sync = next_sync();  // only rank 0's counts
  run_.comm_.broadcast(&sync, sizeof sync);
  worker_ ? work(sync) : serve(sync);
  return meet();
}

void Run::begin_asynchrony() {
  asynchrony_ = std::make_shared<Asynchrony>(*this);
}

Run::Next Run::stretch() {
  return asynchrony_->stretch();
}

// The state has no root here, because other ranks still change it.
void Run::amend(StepEvent& event, const float* tail) const {
  const StepTails::Step& ended = asynchrony_->ended();
  const auto workers = static_cast<double>(ended.workers);
  const float squares = tail[layout_.scalar(Scalar::squares) - layout_.parameter_floats];
  event.gradient_norm = std::sqrt(static_cast<double>(squares) / workers);
  event.root = 0;
  event.shard_squares.reset();
  event.staleness = {static_cast<double>(ended.staleness) / workers,
                     static_cast<double>(ended.most_stale)};
}

std::optional<StartEvent::Asynchronous> Run::asynchronous() const {
  if (!asynchrony_) return std::nullopt;
  const Roles& roles = asynchrony_->roles();
  return StartEvent::Asynchronous{fmt::format("{}, {}",
                                              counted(roles.servers().size(), "server"),
                                              counted(roles.workers().size(), "worker")),
                                  *options_.staleness};
}

}  // namespace dts::train
