// SPDX-License-Identifier: Apache-2.0
// The lines of a failed rank's log that show why it failed. torchrun, and whatever starts it, ends
// with a traceback of its own and a report of each worker: with eight workers some 90 lines after
// those that matter. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dts::run {

// The last of `lines`, at most `most`. Where torchrun's report follows, they are those before it,
// and of these only the ones of the worker that failed first, if they show their worker ("[rank3]:
// ..."); if a signal ended that worker, the report's line about it is the last.
[[nodiscard]] std::vector<std::string> telling_lines(const std::vector<std::string>& lines,
                                                     std::size_t most);

}  // namespace dts::run
