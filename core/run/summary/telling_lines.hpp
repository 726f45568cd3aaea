// SPDX-License-Identifier: Apache-2.0
// The lines of a failed rank's log that show why it failed. torchrun ends with a traceback of its
// own and a report on each worker: with eight workers, some 90 lines follow those that matter. What
// starts torchrun may add a traceback. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dts::run {

// The last of `lines`, at most `most`. If torchrun's report is among them, the last ones before it,
// and of these only those of the worker that failed first if they name their worker
// ("[rank3]: ..."). If a signal ended that worker, the report's line about that follows. The words
// of a program that ran after torchrun, and failed as well, come last. What a program printed about
// its peers after an error of its own (raised_error.hpp) is omitted.
[[nodiscard]] std::vector<std::string> telling_lines(const std::vector<std::string>& lines,
                                                     std::size_t most);

}  // namespace dts::run
