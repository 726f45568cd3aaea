// SPDX-License-Identifier: Apache-2.0
// A process's resource limits (setrlimit(2)) as users write them: "nofile=65536",
// "stack=8M:unlimited". Thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <sys/resource.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

struct ResourceLimit {
  std::string name;  // "nofile"
  int resource = 0;  // RLIMIT_NOFILE
  rlim_t soft = 0;
  std::optional<rlim_t> hard{};  // nullopt: unchanged, or the soft limit if that is higher
};

// NAME=SOFT[:HARD], each a number, optionally with K, M, G or T for powers of 1024, or `unlimited`.
// Sizes are in bytes, as for setrlimit(2).
[[nodiscard]] Result<ResourceLimit> parse_resource_limit(std::string_view text);

// Errc::io, naming our hard limit, if this process may not set it.
[[nodiscard]] Result<void> may_set(const ResourceLimit& limit);

// Sets the limit; returns 0, or errno. Async-signal-safe.
[[nodiscard]] int set_limit(const ResourceLimit& limit);

// The soft limit for RLIMIT_..., in its own unit; nullopt: unlimited, or not known.
[[nodiscard]] std::optional<rlim_t> soft_limit(int resource);

// A mode for umask(2), "027"; nullopt if `text` is not one.
[[nodiscard]] std::optional<unsigned> parse_umask(std::string_view text);

}  // namespace dts
