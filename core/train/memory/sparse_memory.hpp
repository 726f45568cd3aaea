// SPDX-License-Identifier: Apache-2.0
// Memory of which only those pages exist that have been written: an array keeps its addresses
// while parts of it come and go. Thread-safe on pages that no other thread uses.
#pragma once

#include <cstddef>

namespace dts::train {

// Zero. Throws std::bad_alloc.
[[nodiscard]] float* allocate_sparse(std::size_t bytes);
void free_sparse(float* memory, std::size_t bytes);

// Gives back the pages that are as a whole in [begin, end), which may be empty. They are zero then.
void drop_pages(float* begin, float* end);

}  // namespace dts::train
