// SPDX-License-Identifier: Apache-2.0
// What the commands that name a run do with a whole sweep.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"

#include <functional>
#include <string>

namespace dts::cli {

// dtsubmit status: a line for each element, and the best one.
[[nodiscard]] Result<int> sweep_status(const run::RunDirectory& run,
                                       const std::string& metric,
                                       bool json);

// dtsubmit why: how many are where, and why those that are over without being done ended.
[[nodiscard]] Result<int> sweep_why(const run::RunDirectory& run, bool json);

// dtsubmit cancel: the whole array, and the jobs of elements that go on alone.
[[nodiscard]] Result<void> cancel_sweep(const run::RunDirectory& run);

// dtsubmit stop and requeue: `order` for each element that is not over, or that is over and not
// done. Each is tried; the first error decides.
enum class Which { alive, unfinished };
[[nodiscard]] Result<int> each_element(
    const run::RunDirectory& run,
    Which which,
    const std::function<Result<int>(const run::RunDirectory& element)>& order);

// Waits until all elements are over. The value is 0 if all are done, otherwise the exit code of
// the first that is not.
[[nodiscard]] Result<int> follow_sweep(const run::RunDirectory& run);

// Errc::invalid that names an element instead, for what only makes sense for one.
[[nodiscard]] tl::unexpected<Error> choose_element(const run::RunDirectory& run,
                                                   const std::string& command);

}  // namespace dts::cli
