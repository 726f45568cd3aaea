// SPDX-License-Identifier: Apache-2.0
#include "core/run/event/slow_phase.hpp"

#include "core/base/text/names.hpp"

namespace dts::run {
namespace {

constexpr Names<SlowPhase, 3> k_slow_phases{
    {{SlowPhase::compute, "compute"}, {SlowPhase::input, "input"}, {SlowPhase::save, "save"}}};

}  // namespace

const char* to_string(SlowPhase phase) {
  return name_of(k_slow_phases, phase);
}

std::optional<SlowPhase> slow_phase_from(std::string_view text) {
  return value_of(k_slow_phases, text);
}

}  // namespace dts::run
