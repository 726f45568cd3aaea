// SPDX-License-Identifier: Apache-2.0
// Which agent holds an attempt: the content of attempt-<k>/epoch.
#pragma once

#include "core/base/job_id.hpp"
#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace dts::run {

struct Lease {
  JobId job{};  // the scheduler's id; empty: none
  std::uint32_t restart_count = 0;
  std::string node;           // as gethostname(2) returns it on the agent's host
  pid_t pid = 0;              // of the agent
  std::uint64_t started = 0;  // start time of that process, see ProcessInfo; 0: not known
};

// One line without a newline.
[[nodiscard]] std::string to_json(const Lease& lease);

// The lease of attempt `number`. Errc::not_found if there is none, Errc::invalid for other text.
[[nodiscard]] Result<Lease> read_lease(const RunDirectory& run, unsigned number);

// That of the run's latest attempt; nullopt if it cannot be read.
[[nodiscard]] std::optional<Lease> latest_lease(const RunDirectory& run);

enum class Holder { alive, gone, elsewhere };

// Whether the agent is alive on this machine, or belongs to another machine.
[[nodiscard]] Holder holder_of(const Lease& lease);

// Whether the agent of the run's latest attempt is alive on this machine; nullopt if it ran on
// another machine, or if it is not known where.
[[nodiscard]] std::optional<bool> agent_lives(const RunDirectory& run);

}  // namespace dts::run
