// SPDX-License-Identifier: Apache-2.0
// The operations of a scheduler plug-in (dtsubmit-plugins(7)): JSON request in, JSON result out.
// Each of Slurm's plug-ins defines them. All are thread-safe once open_slurm() has succeeded. A
// malformed request throws nlohmann::json::exception, which plugin.cpp turns into "invalid".
#pragma once

#include "plugins/slurm_shared/failure.hpp"

namespace slurm_plugin {

// Ensures that Slurm's configuration can be read. With `probe`, no configuration can end this
// process.
[[nodiscard]] Outcome<void> open_slurm(bool probe);

[[nodiscard]] Outcome<json> submit(const json& request);
[[nodiscard]] Outcome<json> expect(const json& request);
[[nodiscard]] Outcome<json> job(const json& request);
[[nodiscard]] Outcome<json> find(const json& request);
[[nodiscard]] Outcome<json> queue(const json& request);
[[nodiscard]] Outcome<json> nodes(const json& request);
[[nodiscard]] Outcome<json> partitions(const json& request);
[[nodiscard]] Outcome<json> config(const json& request);
[[nodiscard]] Outcome<json> settings(const json& request);
[[nodiscard]] Outcome<json> qos(const json& request);
[[nodiscard]] Outcome<json> limits(const json& request);
// The only operation that may be called before or without open_slurm().
[[nodiscard]] Outcome<json> version(const json& request);
[[nodiscard]] Outcome<json> cancel(const json& request);
[[nodiscard]] Outcome<json> requeue(const json& request);
[[nodiscard]] Outcome<json> forbid_requeue(const json& request);
[[nodiscard]] Outcome<json> exclude(const json& request);
[[nodiscard]] Outcome<json> signal_batch(const json& request);

}  // namespace slurm_plugin
