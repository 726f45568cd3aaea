// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/units.hpp"
#include "core/plan/layout/decide.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::plan {

void choose_margin(Plan& plan, const spec::JobSpec& spec, Diagnostics& problems) {
  constexpr const char* k_what = "signal-margin";
  constexpr std::int64_t k_early = 60, k_working = 30;
  const std::int64_t margin = spec.signal_margin.count();
  plan.signal_margin = spec.signal_margin;
  const bool unlimited = !spec.time || *spec.time == std::chrono::seconds::max();
  if (unlimited || margin == 0 || margin + k_early < spec.time->count())
    return decide(plan,
                  k_what,
                  fmt::format("{} s", margin),
                  margin == 0 ? "no warning before the time limit"
                  : unlimited ? "no time limit requested: counts from the site's default, if any"
                              : "stop this long before the time limit");
  const std::int64_t limit = spec.time->count();
  const spec::JobSpec as_built_in;
  if (spec.signal_margin != as_built_in.signal_margin) {
    problems.push_back(
        {"--signal-margin",
         fmt::format(
             "{} s + {} s (Slurm may signal that early) is not less than the time limit of {} s",
             margin,
             k_early,
             limit),
         limit > k_early + 1
             ? fmt::format("use at most {}, or a longer --time", limit - k_early - 1)
             : "use a longer --time"});
    return;
  }
  plan.signal_margin = std::chrono::seconds(std::max<std::int64_t>(0, limit - k_early - k_working));
  decide(plan,
         k_what,
         fmt::format("{} s", plan.signal_margin.count()),
         fmt::format("lowered from {} s: Slurm may signal {} s early and the limit is {}",
                     margin,
                     k_early,
                     format_time_limit(*spec.time)));
}

}  // namespace dts::plan
