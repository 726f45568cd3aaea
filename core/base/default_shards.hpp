// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dts {

// The number of virtual shards of dttrain's batch, unless --shards sets it; also its maximum number
// of ranks.
inline constexpr unsigned k_default_shards = 16;

}  // namespace dts
