// SPDX-License-Identifier: Apache-2.0
#include "core/train/model/gemm.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <stdexcept>

namespace dts::train {

void multiply(const Factor& a, const Factor& b, int inner, const Product& out, bool adds) {
  const auto status = dnnl::sgemm(a.is_transposed ? 'T' : 'N',
                                  b.is_transposed ? 'T' : 'N',
                                  out.rows,
                                  out.columns,
                                  inner,
                                  1.0F,
                                  a.values,
                                  a.pitch,
                                  b.values,
                                  b.pitch,
                                  adds ? 1.0F : 0.0F,
                                  out.values,
                                  out.pitch);
  if (status != dnnl::status::success) throw std::runtime_error("a product of matrices failed");
}

}  // namespace dts::train
