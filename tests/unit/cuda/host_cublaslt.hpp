// SPDX-License-Identifier: Apache-2.0
// cuBLASLt as its manual has it, on the host: matrices by columns, operations of described
// matrices, algorithms that hold for what they were asked for. For the module's products alone, and
// stricter than the library: what is not aligned as it was said to be is an error.
#pragma once

namespace host_cublaslt {

struct Behaviour {
  bool has_gelu = true;        // algorithms with an epilogue of GELU
  bool refuses_first = false;  // the first algorithm that does not split sums
  bool has_none = false;       // no algorithm for any product
  bool fails = false;          // every heuristic, with an internal error
  int chosen = 0;              // heuristics that were asked
  int fused = 0;               // products with an epilogue of GELU
};

[[nodiscard]] Behaviour& behaviour();

}  // namespace host_cublaslt
