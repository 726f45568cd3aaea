// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cuda/host_cublaslt.hpp"

#include "core/train/accelerator/kernels/elementwise.hpp"

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using namespace dts::train::accelerator;

// What is in the library's opaque structures.
struct Operation {
  cublasComputeType_t sums = CUBLAS_COMPUTE_32F;
  cublasOperation_t of_a = CUBLAS_OP_N;
  cublasOperation_t of_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  void* before = nullptr;
  std::int64_t pitch_before = 0;
};

struct Matrix {
  cudaDataType type = CUDA_R_32F;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t pitch = 0;  // from one column to the next
  std::int32_t count = 1;
  std::int64_t stride = 0;
};

struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::array<std::uint32_t, 4> alignments = {256, 256, 256, 256};  // of A, B, C, D
};

struct Algorithm {
  std::int32_t splits = 1;
  bool is_refused = false;
  std::array<std::uint32_t, 6> alignments = {};  // and of the bias, and of what GELU is of
};

template <class Inside, class Opaque>
Inside& inside(Opaque* opaque) {
  static_assert(sizeof(Inside) <= sizeof(Opaque) && alignof(Inside) <= alignof(Opaque));
  return *reinterpret_cast<Inside*>(opaque);
}

template <class Inside, class Opaque>
const Inside& inside(const Opaque* opaque) {
  static_assert(sizeof(Inside) <= sizeof(Opaque) && alignof(Inside) <= alignof(Opaque));
  return *reinterpret_cast<const Inside*>(opaque);
}

template <class Value>
cublasStatus_t set(Value& value, const void* from, std::size_t bytes) {
  if (bytes != sizeof value) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&value, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

std::uint32_t alignment_of(const void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at) | 256;
  return static_cast<std::uint32_t>(address & (~address + 1));
}

bool is_gelu(cublasLtEpilogue_t epilogue) {
  return (epilogue & CUBLASLT_EPILOGUE_GELU) != 0 || epilogue == CUBLASLT_EPILOGUE_DGELU;
}

bool has_bias(cublasLtEpilogue_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
}

double read(const void* values, cudaDataType type, std::int64_t place) {
  if (type == CUDA_R_16BF) return value_of(static_cast<const Bfloat*>(values)[place]);
  return static_cast<const float*>(values)[place];
}

void write(void* values, cudaDataType type, std::int64_t place, double value) {
  if (type == CUDA_R_16BF)
    static_cast<Bfloat*>(values)[place] = rounded_to_bf16(static_cast<float>(value));
  else
    static_cast<float*>(values)[place] = static_cast<float>(value);
}

// Element (row, column) of op(matrix).
double element(const void* values,
               const Matrix& matrix,
               cublasOperation_t operation,
               std::int64_t which,
               std::int64_t row,
               std::int64_t column) {
  if (operation == CUBLAS_OP_T) std::swap(row, column);
  return read(values, matrix.type, which * matrix.stride + column * matrix.pitch + row);
}

bool fit(const Operation& operation, const Matrix& a, const Matrix& b, const Matrix& d) {
  const auto turned = [](const Matrix& matrix, cublasOperation_t how) {
    return how == CUBLAS_OP_T ? std::array{matrix.columns, matrix.rows}
                              : std::array{matrix.rows, matrix.columns};
  };
  const auto [a_rows, a_columns] = turned(a, operation.of_a);
  const auto [b_rows, b_columns] = turned(b, operation.of_b);
  const auto is_whole = [](const Matrix& one) {
    return one.pitch >= static_cast<std::int64_t>(one.rows);
  };
  if (!is_whole(a) || !is_whole(b) || !is_whole(d) || a.count != d.count || b.count != d.count)
    return false;
  if (a.type != b.type || (d.type == CUDA_R_16BF && a.type != CUDA_R_16BF)) return false;
  return a_rows == d.rows && b_columns == d.columns && a_columns == b_rows;
}

struct Arrays {
  const void* a;
  const void* b;
  const void* c;
  void* d;
};

// One element of D by its sum.
void finish(const Operation& operation,
            const Matrix& d,
            const Arrays& arrays,
            std::int64_t place,
            std::int64_t row,
            std::int64_t column,
            double sum) {
  if (has_bias(operation.epilogue)) sum += read(operation.bias, d.type, row);
  const std::int64_t there = column * operation.pitch_before + row;
  if (operation.epilogue == CUBLASLT_EPILOGUE_DGELU) {
    const auto x = static_cast<float>(read(operation.before, d.type, there));
    sum *= static_cast<double>(gelu_slope(x));
  } else if (is_gelu(operation.epilogue)) {
    write(operation.before, d.type, there, sum);
    sum *= static_cast<double>(gelu_gate(static_cast<float>(sum)));
  }
  write(arrays.d, d.type, place, sum);
}

void compute(const Operation& operation,
             const Matrix& a,
             const Matrix& b,
             const Matrix& d,
             const Arrays& arrays,
             double alpha,
             double beta) {
  const std::uint64_t inner = operation.of_a == CUBLAS_OP_T ? a.rows : a.columns;
  for (std::int64_t which = 0; which < d.count; ++which)
    for (std::int64_t column = 0; column < static_cast<std::int64_t>(d.columns); ++column)
      for (std::int64_t row = 0; row < static_cast<std::int64_t>(d.rows); ++row) {
        double sum = 0;
        for (std::int64_t k = 0; k < static_cast<std::int64_t>(inner); ++k)
          sum += element(arrays.a, a, operation.of_a, which, row, k) *
                 element(arrays.b, b, operation.of_b, which, k, column);
        const std::int64_t place = which * d.stride + column * d.pitch + row;
        sum *= alpha;
        if (beta != 0) sum += beta * read(arrays.c, d.type, place);
        finish(operation, d, arrays, place, row, column, sum);
      }
}

}  // namespace

host_cublaslt::Behaviour& host_cublaslt::behaviour() {
  static Behaviour one;
  return one;
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t opaque,
                                               std::size_t size,
                                               cublasComputeType_t sums,
                                               cudaDataType_t scale) {
  if (size != sizeof *opaque || scale != CUDA_R_32F) return CUBLAS_STATUS_INVALID_VALUE;
  inside<Operation>(opaque) = {};
  inside<Operation>(opaque).sums = sums;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t opaque,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void* from,
                                              std::size_t bytes) {
  auto& operation = inside<Operation>(opaque);
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(operation.of_a, from, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(operation.of_b, from, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(operation.epilogue, from, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(operation.bias, from, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return set(operation.before, from, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return set(operation.pitch_before, from, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t opaque,
                                                 std::size_t size,
                                                 cudaDataType type,
                                                 std::uint64_t rows,
                                                 std::uint64_t columns,
                                                 std::int64_t pitch) {
  if (size != sizeof *opaque) return CUBLAS_STATUS_INVALID_VALUE;
  inside<Matrix>(opaque) = {type, rows, columns, pitch};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t opaque,
                                                cublasLtMatrixLayoutAttribute_t which,
                                                const void* from,
                                                std::size_t bytes) {
  auto& matrix = inside<Matrix>(opaque);
  switch (which) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return set(matrix.count, from, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return set(matrix.stride, from, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t opaque,
                                                     std::size_t size) {
  if (size != sizeof *opaque) return CUBLAS_STATUS_INVALID_VALUE;
  inside<Preference>(opaque) = {};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t opaque,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void* from,
                                                    std::size_t bytes) {
  auto& preference = inside<Preference>(opaque);
  switch (which) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return set(preference.workspace, from, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return set(preference.reductions, from, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return set(preference.alignments[0], from, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return set(preference.alignments[1], from, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return set(preference.alignments[2], from, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return set(preference.alignments[3], from, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

// The first one splits sums, and the second one the library thinks better of.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t /*handle*/,
                                              cublasLtMatmulDesc_t of_operation,
                                              cublasLtMatrixLayout_t of_a,
                                              cublasLtMatrixLayout_t of_b,
                                              cublasLtMatrixLayout_t /*of_c*/,
                                              cublasLtMatrixLayout_t of_d,
                                              cublasLtMatmulPreference_t of_preference,
                                              int requested,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* count) {
  const auto& operation = inside<Operation>(of_operation);
  const auto& preference = inside<Preference>(of_preference);
  ++host_cublaslt::behaviour().chosen;
  *count = 0;
  if (!fit(operation, inside<Matrix>(of_a), inside<Matrix>(of_b), inside<Matrix>(of_d)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (host_cublaslt::behaviour().fails) return CUBLAS_STATUS_INTERNAL_ERROR;
  if (host_cublaslt::behaviour().has_none) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (is_gelu(operation.epilogue) && !host_cublaslt::behaviour().has_gelu)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  Algorithm algorithm;
  std::copy_n(preference.alignments.begin(), 4, algorithm.alignments.begin());
  algorithm.alignments[4] = alignment_of(operation.bias);
  algorithm.alignments[5] = alignment_of(operation.before);
  for (const std::int32_t splits : {4, 1, 1, 1}) {
    if (*count == requested) break;
    auto& result = results[*count];
    algorithm.splits = splits;
    algorithm.is_refused = *count == 2 && host_cublaslt::behaviour().refuses_first;
    result = {};
    std::memcpy(static_cast<void*>(&result.algo), &algorithm, sizeof algorithm);
    result.state = *count == 1 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
    ++*count;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t which,
                                                    void* to,
                                                    std::size_t bytes,
                                                    std::size_t* written) {
  const std::int32_t splits = inside<Algorithm>(algorithm).splits;
  if (which != CUBLASLT_ALGO_CONFIG_SPLITK_NUM || bytes != sizeof splits)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, &splits, bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t /*handle*/,
                              cublasLtMatmulDesc_t of_operation,
                              const void* alpha,
                              const void* a,
                              cublasLtMatrixLayout_t of_a,
                              const void* b,
                              cublasLtMatrixLayout_t of_b,
                              const void* beta,
                              const void* c,
                              cublasLtMatrixLayout_t of_c,
                              void* d,
                              cublasLtMatrixLayout_t of_d,
                              const cublasLtMatmulAlgo_t* of_algorithm,
                              void* /*workspace*/,
                              std::size_t /*bytes*/,
                              cudaStream_t /*stream*/) {
  const auto& operation = inside<Operation>(of_operation);
  const auto& algorithm = inside<Algorithm>(of_algorithm);
  const auto& matrix = inside<Matrix>(of_d);
  if (algorithm.splits != 1 || of_c != of_d) return CUBLAS_STATUS_INVALID_VALUE;
  if (algorithm.is_refused) return CUBLAS_STATUS_NOT_SUPPORTED;
  const std::array<const void*, 6> all = {a, b, c, d, operation.bias, operation.before};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (alignment_of(all[i]) < std::min(algorithm.alignments[i], 16U))
      return CUBLAS_STATUS_INVALID_VALUE;
  if (is_gelu(operation.epilogue)) {
    ++host_cublaslt::behaviour().fused;
    if (operation.pitch_before % 8 != 0 || operation.before == nullptr ||
        operation.pitch_before < static_cast<std::int64_t>(matrix.rows))
      return CUBLAS_STATUS_INVALID_VALUE;
  }
  compute(operation,
          inside<Matrix>(of_a),
          inside<Matrix>(of_b),
          matrix,
          {a, b, c, d},
          static_cast<double>(*static_cast<const float*>(alpha)),
          static_cast<double>(*static_cast<const float*>(beta)));
  return CUBLAS_STATUS_SUCCESS;
}
