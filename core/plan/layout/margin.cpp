// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/units.hpp"
#include "core/plan/layout/decide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace dts::plan {
namespace {

constexpr std::int64_t k_early = 60, k_working = 30;

// Of a job; nullopt: none, or the site does not say.
std::optional<std::chrono::seconds> known_limit(const spec::JobSpec& spec, const Fit& fit) {
  const std::chrono::seconds limit = spec.time.value_or(fit.default_limit.limit);
  if (limit.count() == 0 || limit == std::chrono::seconds::max()) return std::nullopt;
  return limit;
}

std::string limit_words(const spec::JobSpec& spec, const Fit& fit, std::chrono::seconds limit) {
  const std::string length = format_time_limit(limit);
  return spec.time ? length
                   : length + ", which partition " + fit.partition + " gives a job without --time";
}

}  // namespace

void choose_margin(Plan& plan, const spec::JobSpec& spec, const Fit& fit, Diagnostics& problems) {
  constexpr const char* k_what = "signal-margin";
  const std::int64_t margin = spec.signal_margin.count();
  plan.signal_margin = spec.signal_margin;
  const auto limit = known_limit(spec, fit);
  if (!limit || margin == 0 || margin + k_early < limit->count())
    return decide(plan,
                  k_what,
                  fmt::format("{} s", margin),
                  margin == 0 ? "no warning before the time limit"
                  : !limit    ? "no time limit requested: counts from the site's default, if any"
                  : spec.time
                      ? "stop this long before the time limit"
                      : "stop this long before the time limit, " + limit_words(spec, fit, *limit));
  const spec::JobSpec as_built_in;
  const bool is_requested = spec.signal_margin != as_built_in.signal_margin;
  if (is_requested && !spec.time && !fit.default_limit.is_certain)
    return decide(
        plan,
        k_what,
        fmt::format("{} s", margin),
        "stop this long before the time limit, which may be " + limit_words(spec, fit, *limit));
  if (is_requested) {
    problems.push_back(
        {"--signal-margin",
         fmt::format("{} s + {} s (Slurm may signal that early) is not less than the time limit of "
                     "{} s{}",
                     margin,
                     k_early,
                     limit->count(),
                     spec.time ? "" : ", the default of partition " + fit.partition),
         limit->count() > k_early + 1
             ? fmt::format("use at most {}, or a longer --time", limit->count() - k_early - 1)
             : "use a longer --time"});
    return;
  }
  plan.signal_margin =
      std::chrono::seconds(std::max<std::int64_t>(0, limit->count() - k_early - k_working));
  decide(plan,
         k_what,
         fmt::format("{} s", plan.signal_margin.count()),
         fmt::format("lowered from {} s: Slurm may signal {} s early and the limit is {}",
                     margin,
                     k_early,
                     limit_words(spec, fit, *limit)));
}

}  // namespace dts::plan
