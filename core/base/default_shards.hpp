// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dts {

// Virtual shards of dttrain's batch unless --shards says otherwise: it can have no more ranks.
inline constexpr unsigned k_default_shards = 16;

}  // namespace dts
