// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/limits.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

namespace dts {
namespace {

constexpr std::pair<std::string_view, int> k_resources[] = {
    {"as", RLIMIT_AS},
    {"core", RLIMIT_CORE},
    {"cpu", RLIMIT_CPU},
    {"data", RLIMIT_DATA},
    {"fsize", RLIMIT_FSIZE},
    {"locks", RLIMIT_LOCKS},
    {"memlock", RLIMIT_MEMLOCK},
    {"msgqueue", RLIMIT_MSGQUEUE},
    {"nice", RLIMIT_NICE},
    {"nofile", RLIMIT_NOFILE},
    {"nproc", RLIMIT_NPROC},
    {"rss", RLIMIT_RSS},
    {"rtprio", RLIMIT_RTPRIO},
    {"sigpending", RLIMIT_SIGPENDING},
    {"stack", RLIMIT_STACK},
};

std::string names_of_resources() {
  std::vector<std::string> names;
  for (const auto& [name, resource] : k_resources) names.emplace_back(name);
  return join(names, ", ");
}

std::optional<rlim_t> parse_limit_value(std::string_view text) {
  if (text == "unlimited" || text == "infinity") return RLIM_INFINITY;
  constexpr std::string_view k_units = "KMGT";
  rlim_t unit = 1;
  if (!text.empty())
    if (const std::size_t power = k_units.find(text.back()); power != std::string_view::npos) {
      unit = rlim_t{1} << (10 * (power + 1));
      text.remove_suffix(1);
    }
  const auto number = parse_number(std::string(text));
  if (!number || *number >= RLIM_INFINITY / unit) return std::nullopt;
  return *number * unit;
}

std::string shown_limit(rlim_t value) {
  return value == RLIM_INFINITY ? "unlimited" : std::to_string(value);
}

// The values to set if the current limit is `now`.
rlimit wanted_limit(const ResourceLimit& limit, const rlimit& now) {
  return {limit.soft, limit.hard.value_or(std::max(now.rlim_max, limit.soft))};
}

// Tries it: root in a container may lack CAP_SYS_RESOURCE, and nobody raises nofile above
// fs.nr_open, setrlimit(2).
bool can_raise(int number, const rlimit& now, rlim_t hard) {
  const auto resource = static_cast<__rlimit_resource_t>(number);
  const rlimit raised{now.rlim_cur, hard};
  return ::setrlimit(resource, &raised) == 0 && ::setrlimit(resource, &now) == 0;
}

}  // namespace

Result<ResourceLimit> parse_resource_limit(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto* known = std::find_if(std::begin(k_resources),
                                   std::end(k_resources),
                                   [&](const auto& one) { return one.first == name; });
  if (known == std::end(k_resources))
    return fail(
        Errc::invalid, fmt::format("`{}` is not a limit", name), "one of " + names_of_resources());
  const std::string example =
      fmt::format("for example {0}=65536, {0}=8M or {0}=1024:unlimited", name);
  if (equals == std::string_view::npos)
    return fail(Errc::invalid, fmt::format("`{}` has no value", name), example);
  const std::string_view values = text.substr(equals + 1);
  const std::size_t colon = values.find(':');
  const auto soft = parse_limit_value(values.substr(0, colon));
  ResourceLimit limit{std::string(name), known->second, soft.value_or(0)};
  bool is_good = soft.has_value();
  if (colon != std::string_view::npos) {
    limit.hard = parse_limit_value(values.substr(colon + 1));
    is_good = is_good && limit.hard && *limit.hard >= limit.soft;
  }
  if (!is_good)
    return fail(Errc::invalid, fmt::format("`{}` is not a value for {}", values, name), example);
  return limit;
}

Result<void> may_set(const ResourceLimit& limit) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(limit.resource), &now) != 0)
    return fail_errno("cannot read the limit " + limit.name);
  const rlim_t hard = wanted_limit(limit, now).rlim_max;
  if (hard <= now.rlim_max || can_raise(limit.resource, now, hard)) return {};
  return fail(Errc::io,
              fmt::format("--ulimit {}={} is more than the hard limit here, {}",
                          limit.name,
                          shown_limit(hard),
                          shown_limit(now.rlim_max)));
}

int set_limit(const ResourceLimit& limit) {
  const auto resource = static_cast<__rlimit_resource_t>(limit.resource);
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return errno;
  const rlimit wanted = wanted_limit(limit, now);
  return ::setrlimit(resource, &wanted) == 0 ? 0 : errno;
}

std::optional<rlim_t> soft_limit(int resource) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &now) != 0 ||
      now.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return now.rlim_cur;
}

std::optional<unsigned> parse_umask(std::string_view text) {
  constexpr unsigned k_most = 0777;
  unsigned mode = 0;
  if (text.empty() || text.size() > 4) return std::nullopt;
  for (const char c : text) {
    if (c < '0' || c > '7') return std::nullopt;
    mode = mode * 8 + static_cast<unsigned>(c - '0');
  }
  if (mode > k_most) return std::nullopt;
  return mode;
}

}  // namespace dts
