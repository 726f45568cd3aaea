// SPDX-License-Identifier: Apache-2.0
// How a training ends, or continues, when a value is not finite or bits are wrong.
#include "core/base/exit_codes.hpp"
#include "core/train/loop/not_finite.hpp"
#include "core/train/loop/run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace dts::train {
namespace {

// Plain data, sent between ranks.
struct Culprit {
  int shard = std::numeric_limits<int>::max();
  std::array<char, 100> what{};
};

}  // namespace

// Recomputes the step's shards and returns where the fault is, e.g. "the loss of shard 5 (rank 1)".
// Returns `what` if each shard is finite and only their sum or the update is not.
std::string Run::locate(const std::string& what) {
  Culprit mine;
  update_->gather_weights(state_);
  for (const Span run : runs()) {
    const auto found = find_not_finite(*backend_, input(), run);
    if (!found) continue;
    mine.shard = found->shard;
    std::copy_n(
        found->what.begin(), std::min(found->what.size(), mine.what.size() - 1), mine.what.begin());
    break;
  }
  update_->drop_weights(state_);
  std::vector<Culprit> all(static_cast<std::size_t>(comm_.size()), mine);
  if (comm_.size() > 1) comm_.post_gather(&mine, all.data(), sizeof mine);
  comm_.barrier();
  const auto first = std::min_element(
      all.begin(), all.end(), [](const Culprit& a, const Culprit& b) { return a.shard < b.shard; });
  if (first->shard == std::numeric_limits<int>::max()) return what;
  return fmt::format(
      "{} of shard {} (rank {})", first->what.data(), first->shard, first - all.begin());
}

Run::Next Run::skip_step(const std::string& what) {
  not_finite_ = locate(what);
  if (state_.skipped >= options_.skip_nonfinite) return Next::not_finite;
  ++state_.step;
  ++state_.skipped;
  if (beat_) beat_->beat(state_.step);
  report_.skipped(state_.step, not_finite_, state_.skipped, options_.skip_nonfinite);
  return Next::step;
}

int Run::stop_not_finite() {
  report_.not_finite(state_.step + 1, not_finite_);
  if (comm_.rank() != 0) return k_no_restart;
  const std::string spent = options_.skip_nonfinite == 0
                                ? ""
                                : fmt::format(", and {} of at most {} steps were skipped before",
                                              state_.skipped,
                                              options_.skip_nonfinite);
  print_error(
      Error{Errc::invalid,
            asynchrony_
                ? fmt::format("before step {}: {} is not finite", state_.step, not_finite_)
                : fmt::format("step {}: {} is not finite{}; the state of step {} is as it was",
                              state_.step + 1,
                              not_finite_,
                              spent,
                              state_.step),
            "lower --lr, look at the data of that shard, or allow steps to be skipped with "
            "--skip-nonfinite N"},
      -1);
  return k_no_restart;
}

// Runs before the weights change, so that all ranks can still recompute as referees.
bool Run::passes(const Audit& audit, const StepInput& input) {
  const auto owner = static_cast<std::size_t>(audit.owner);
  const auto auditor = static_cast<std::size_t>(audit.auditor);
  update_->exchange().relay_rest();
  std::array<std::uint64_t, 2> mine{backend_->audited(), 0};
  if (comm_.rank() == audit.auditor) mine[1] = backend_->recompute(input);
  const auto all = comm_.gather(mine);
  Ballots ballots{all[owner][0], all[auditor][1], {}};
  if (ballots.owner == ballots.auditor) return true;
  ballots.referees = comm_.gather(backend_->recompute(input));
  // If a weight has flipped, that explains the difference, and verify() reports it.
  if (update_->verify(state_)) blames_ = judge(audit, ballots);
  return false;
}

// dtsubmit recognises the pattern "this rank's bits are wrong: "
// (run/summary/evidence.cpp).
int Run::stop_damaged() {
  // If other ranks received wrong weights, their owner may not have checked its own yet.
  if (stage_ == 3) (void)update_->verify(state_);
  const std::vector<Blame> blames = blames_.empty() ? update_->blame() : blames_;
  for (const Blame& one : blames) {
    report_.corrupted(state_.step, one.rank, one.what);
    const char* const hint =
        "no checkpoint has been written since the last one that all ranks agreed on; resume from "
        "it "
        "on other machines";
    if (one.rank == comm_.rank())
      print_error(Error{Errc::invalid,
                        fmt::format("this rank's bits are wrong: after step {} {} (node {})",
                                    state_.step,
                                    one.what,
                                    update_->node()),
                        hint},
                  comm_.rank());
    else if (one.rank < 0 && comm_.rank() == 0)
      print_error(
          Error{Errc::invalid, fmt::format("after step {} {}", state_.step, one.what), hint}, -1);
  }
  return k_corrupted;
}

}  // namespace dts::train
