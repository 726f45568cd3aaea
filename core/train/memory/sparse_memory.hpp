// SPDX-License-Identifier: Apache-2.0
// Memory in which only written pages exist: an array keeps its address while parts of it come and
// go. Thread-safe on pages that no other thread uses.
#pragma once

#include <cstddef>

namespace dts::train {

// Filled with zeros. Throws std::bad_alloc.
[[nodiscard]] float* allocate_sparse(std::size_t bytes);
void free_sparse(float* memory, std::size_t bytes);

// Frees the pages that are completely in [begin, end), which may be empty. They then read as zeros.
void drop_pages(float* begin, float* end);

}  // namespace dts::train
