// SPDX-License-Identifier: Apache-2.0
// The elements of a sweep as runs of their own. The element's job, or a command, creates an
// element's run directory when it first needs it, so a submission writes only one directory,
// however many elements there are.
#pragma once

#include "core/base/job_id.hpp"
#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sweep/element.hpp"
#include "core/sweep/sweep.hpp"

#include <optional>

namespace dts::launch {

// True for the run directory of a sweep or array.
[[nodiscard]] bool is_sweep(const run::RunDirectory& run);

// True for the run directory of an element.
[[nodiscard]] bool is_element(const run::RunDirectory& run);

// Errors: a file is damaged, or other users could have changed it.
[[nodiscard]] Result<sweep::Sweep> read_sweep(const run::RunDirectory& run);
[[nodiscard]] Result<sweep::Membership> read_membership(const run::RunDirectory& run);

// The (future) location of an element's run directory.
[[nodiscard]] run::RunDirectory element_directory(const run::RunDirectory& sweep, unsigned index);

// Opens an element's run directory, and creates it from the sweep's own files if needed; of several
// concurrent processes, one creates it. `array` is the id of the whole array. Errc::not_found, with
// the sweep's indices, for an index that the sweep does not have.
[[nodiscard]] Result<run::RunDirectory> open_element(const run::RunDirectory& run,
                                                     const sweep::Sweep& sweep,
                                                     unsigned index,
                                                     const JobId& array);

}  // namespace dts::launch
