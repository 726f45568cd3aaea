// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/after/chain_keeper.hpp"

#include "core/base/os/log.hpp"
#include "core/plugin/scheduler.hpp"

#include <climits>

namespace dts::launch {
namespace {

Result<std::unique_ptr<sched::Scheduler>> scheduler_for_chain() {
  return plugin::load_scheduler(plugin::scheduler_name(), true);
}

}  // namespace

void ChainKeeper::begin() {
  if (job_.spec.chain == 0) return;
  const unsigned most = job_.spec.chain == spec::k_endless_chain ? UINT_MAX : job_.spec.chain;
  extended_ = std::async(std::launch::async,
                         [run = job_.run, own = job_.allocation.job, most]() -> Result<Chain> {
                           DTS_ASSIGN(const auto scheduler, scheduler_for_chain());
                           return extend_chain(*scheduler, run, own, most);
                         });
}

bool ChainKeeper::is_for_next(const run::Outcome& outcome) const {
  if (job_.spec.chain == 0) return false;
  const run::Kind kind = run::kind_of(outcome.cause);
  return kind == run::Kind::timeout || kind == run::Kind::checkpointed;
}

Result<Chain> ChainKeeper::chain() {
  if (!extended_.valid()) return read_chain(job_.run);
  auto chain = extended_.get();
  if (!chain) log("the chain's next job was not submitted: {}", chain.error().message);
  return chain;
}

bool ChainKeeper::is_used_up(const Chain& chain) const {
  return chain.waiting.empty() && job_.spec.chain != spec::k_endless_chain &&
         chain.jobs >= job_.spec.chain;
}

void ChainKeeper::cut() {
  if (job_.spec.chain == 0) return;
  [[maybe_unused]] const auto chain = this->chain();
  const auto cut = scheduler_for_chain().and_then(
      [&](const auto& scheduler) { return cut_chain(*scheduler, job_.run); });
  if (!cut) log("the chain's next job may still start, and end at once: {}", cut.error().message);
}

}  // namespace dts::launch
