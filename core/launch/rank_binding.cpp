// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank_binding.hpp"

#include "core/launch/binding.hpp"
#include "core/launch/memory_binding.hpp"
#include "core/launch/program.hpp"
#include "core/launch/read_binding.hpp"

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_first_look{5};
constexpr std::chrono::seconds k_second_look{60};

}  // namespace

Result<void> RankBinding::apply(const Go& order) {
  planned_ = {order.cpus, order.memory, order.gpus_per_node, order.node_cpus};
  strict_ = order.strict_binding;
  std::vector<unsigned> inherited = current_binding();
  if (!order.cpus.empty()) DTS_TRY(bind_to(order.cpus));
  const auto memory = bind_memory(order.memory);
  state_ = read_start_state(std::move(inherited), memory ? "" : memory.error().message);
  return {};
}

bool RankBinding::may_start() const {
  return !strict_ || !has_mismatch(judge_binding(planned_, state_));
}

void RankBinding::begin(Time now) {
  began_ = now;
  next_look_ = now + k_first_look;
}

void RankBinding::read_threads(Time now) {
  launch::read_threads(children(), state_);
  if (now >= next_look_)
    next_look_ = next_look_ < began_ + k_second_look ? began_ + k_second_look : Time::max();
}

}  // namespace dts::launch
