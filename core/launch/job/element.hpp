// SPDX-License-Identifier: Apache-2.0
// The elements of a sweep as runs of their own. Their run directories are made when they are first
// needed, by the job of the element or by a command: a submission writes one directory, however
// many elements there are.
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

// True for that of an element of one.
[[nodiscard]] bool is_element(const run::RunDirectory& run);

// Errors: a file that is damaged, or not ours alone.
[[nodiscard]] Result<sweep::Sweep> read_sweep(const run::RunDirectory& run);
[[nodiscard]] Result<sweep::Membership> read_membership(const run::RunDirectory& run);

// Where an element's run directory is, or will be.
[[nodiscard]] run::RunDirectory element_directory(const run::RunDirectory& sweep, unsigned index);

// That run directory, made from the sweep's own files if it does not exist; of several processes
// that do so at once one makes it. `array` is the id of the whole array. Errc::not_found, with the
// sweep's indices, for an index that it does not have.
[[nodiscard]] Result<run::RunDirectory> open_element(const run::RunDirectory& run,
                                                     const sweep::Sweep& sweep,
                                                     unsigned index,
                                                     const JobId& array);

}  // namespace dts::launch
