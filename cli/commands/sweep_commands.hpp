// SPDX-License-Identifier: Apache-2.0
// What commands that select a run do with a whole sweep.
#pragma once

#include "cli/output/orders.hpp"
#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"

#include <functional>
#include <string>

namespace dts::cli {

// dtsubmit status: one line per element, and the best one.
[[nodiscard]] Result<int> sweep_status(const run::RunDirectory& run,
                                       const std::string& metric,
                                       bool json);

// dtsubmit why: the number of elements in each state, and why unsuccessful ones ended.
[[nodiscard]] Result<int> sweep_why(const run::RunDirectory& run, bool json);

// dtsubmit cancel: the whole array, and the jobs that continue single elements.
[[nodiscard]] Result<Ordered> cancel_sweep(const run::RunDirectory& run);

// dtsubmit stop and requeue: applies `order`, which reports what became of it, to the run, or to
// each element of a sweep that is not over, or that is over and not done. Every element is tried;
// the first error is returned. All errors are in `report`, which is finished.
enum class ElementFilter { alive, unfinished };
[[nodiscard]] Result<int> order_each(
    const run::RunDirectory& run,
    ElementFilter which,
    OrderReport& report,
    const std::function<Result<int>(const run::RunDirectory& one)>& order);

// Waits until all elements are over. Returns 0 if all are done, otherwise the exit code of the
// first that is not.
[[nodiscard]] Result<int> follow_sweep(const run::RunDirectory& run,
                                       const std::string& on_interrupt);

// Errc::invalid with a hint to name an element, for commands that apply to one element only.
[[nodiscard]] tl::unexpected<Error> choose_element(const run::RunDirectory& run,
                                                   const std::string& command);

}  // namespace dts::cli
