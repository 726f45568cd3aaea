// SPDX-License-Identifier: Apache-2.0
// The part of a product that kernels compute: what cuBLASLt does not offer.
#pragma once

#include "core/train/accelerator/dttrain_device.h"

// The product without its curve.
[[nodiscard]] dttrain_product straight(dttrain_product p);

// Enqueue their work, and return nullptr or an error, like the functions of the module's table.
// A product without a curve:
const char* cuda_multiply_by_kernel(dttrain_context* context, const dttrain_product& p);
// The curve of a product, and the sums of its columns, after straight(p):
const char* cuda_curve(dttrain_context* context, const dttrain_product& p);
// The sums of the columns if cuBLASLt has applied the curve; its output is always rounded:
const char* cuda_add_columns(dttrain_context* context, const dttrain_product& p);
