// SPDX-License-Identifier: Apache-2.0
// FOLDER/cluster.json: the choices made when a cluster was started. It marks the folder as ours.
#pragma once

#include "core/base/result.hpp"
#include "core/cluster/layout/config.hpp"

#include <string>

namespace dts::cluster {

[[nodiscard]] std::string record_path(const std::string& folder);

// Writes all of `layout` except the fields of `spec` that only slurm.conf needs.
[[nodiscard]] Result<void> write_record(const Layout& layout);

// Errc::not_found without a record; Errc::invalid for a damaged one.
[[nodiscard]] Result<Layout> read_record(const std::string& folder);

}  // namespace dts::cluster
