// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/rank_binding.hpp"

#include "core/base/os/own_children.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/binding/binding.hpp"
#include "core/launch/binding/memory_binding.hpp"
#include "core/launch/binding/openmp_runtime.hpp"
#include "core/launch/binding/read_binding.hpp"
#include "core/launch/program/program.hpp"
#include "core/plan/thread_places.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_first_look{5};
constexpr std::chrono::seconds k_second_look{60};

}  // namespace

Result<void> RankBinding::apply(const Go& order) {
  planned_ = order.binding;
  strict_ = order.strict_binding;
  std::vector<unsigned> inherited = current_binding();
  if (!planned_.cpus.empty()) DTS_TRY(bind_to(planned_.cpus));
  const auto memory = bind_memory(planned_.memory);
  state_ = read_start_state(std::move(inherited), memory ? "" : memory.error().message);
  return {};
}

plan::Environment RankBinding::place_threads(const Go& order,
                                             const std::vector<std::string>& command,
                                             const plan::IsSet& is_set) {
  if (order.thread_cpus.empty()) return {};
  const auto own = std::find_if(plan::k_thread_places.begin(), plan::k_thread_places.end(), is_set);
  if (own != plan::k_thread_places.end()) {
    state_.thread_places = fmt::format("OpenMP threads as your own {} says", *own);
    return {};
  }
  const LinkedRuntimes linked = order.container.image.empty()
                                    ? linked_runtimes(command.at(0))
                                    : LinkedRuntimes{{}, "is in a container"};
  plan::Environment variables =
      plan::places_of_threads(linked.names, order.binding.cpus, order.thread_cpus);
  const std::string names =
      variables.size() == 1 ? variables[0].first : "OMP_PLACES and KMP_AFFINITY";
  state_.thread_places = fmt::format(
      "OpenMP threads by {}: the program {}",
      names,
      linked.names.empty() ? linked.why_none : "is linked with " + join(linked.names, " and "));
  return variables;
}

bool RankBinding::may_start() const {
  return !strict_ || !has_mismatch(judge_binding(planned_, state_));
}

void RankBinding::begin(Time now) {
  began_ = now;
  next_poll_ = now + k_first_look;
}

void RankBinding::read_threads(Time now) {
  launch::read_threads(own_children(), state_);
  if (now >= next_poll_)
    next_poll_ = next_poll_ < began_ + k_second_look ? began_ + k_second_look : Time::max();
}

}  // namespace dts::launch
