// SPDX-License-Identifier: Apache-2.0
// Matrix products by cuBLASLt. For each shape, the library's heuristic chooses an algorithm once,
// among those that do not split sums over blocks, so that the bits are always the same (cuBLAS,
// "Results Reproducibility"; splitting with an in-place reduction depends on which block ends
// last).
//
// cuBLASLt is column-major. A row-major matrix is its own transpose there, so out = left right is
// computed as out^T = right^T left^T.
#include "plugins/cuda/context.hpp"
#include "plugins/cuda/product_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace {

// The alignment that algorithms may use for vectors. Limited to what vectors need, so that the
// choice does not depend on where a sample's rows begin.
int alignment_of(const void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at) | 16;
  return static_cast<int>(address & (~address + 1));
}

dttrain_context::Shape shape_of(const dttrain_product& p) {
  return {p.rows,
          p.columns,
          p.inner,
          p.pitch,
          p.stride,
          p.count,
          p.factors,
          p.rounds,
          p.plus != nullptr,
          p.bias != nullptr,
          p.left.pitch,
          p.left.stride,
          p.left.is_transposed,
          p.right.pitch,
          p.right.stride,
          p.right.is_transposed,
          alignment_of(p.left.values),
          alignment_of(p.right.values),
          alignment_of(p.out),
          alignment_of(p.plus),
          alignment_of(p.bias),
          p.curve,
          alignment_of(p.before)};
}

cudaDataType type_of(const dttrain_product& p) {
  return p.factors == DTTRAIN_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

cudaDataType type_of_out(const dttrain_product& p) {
  return p.rounds != 0 ? CUDA_R_16BF : CUDA_R_32F;
}

// The library adds a bias to each of its columns, which are our rows.
cublasLtEpilogue_t epilogue_of(const dttrain_product& p) {
  if (p.curve == DTTRAIN_GELU_GRADIENT) return CUBLASLT_EPILOGUE_DGELU;
  if (p.curve == DTTRAIN_GELU)
    return p.bias != nullptr ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
  return p.bias != nullptr ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

// Sets the arrays that an epilogue reads and writes. The library derives their alignment, which
// affects the choice of an algorithm, from their addresses.
cublasStatus_t set_arrays(ChosenProduct& chosen, const dttrain_product& p) {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  if (p.bias != nullptr)
    status = cublasLtMatmulDescSetAttribute(
        &chosen.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p.bias, sizeof p.bias);
  if (status == CUBLAS_STATUS_SUCCESS && p.before != nullptr)
    status = cublasLtMatmulDescSetAttribute(
        &chosen.operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &p.before, sizeof p.before);
  return status;
}

cublasStatus_t describe(cublasLtMatrixLayoutOpaque_t& layout,
                        cudaDataType type,
                        int rows,
                        int columns,
                        int pitch,
                        int count,
                        std::int64_t stride) {
  // A row in memory is a column for cuBLASLt.
  cublasStatus_t status = cublasLtMatrixLayoutInit(
      &layout, type, static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows), pitch);
  if (status != CUBLAS_STATUS_SUCCESS || count == 1) return status;
  status = cublasLtMatrixLayoutSetAttribute(
      &layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cublasLtMatrixLayoutSetAttribute(
      &layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
}

// Describes a factor as it is in memory, before any transposition.
cublasStatus_t describe(cublasLtMatrixLayoutOpaque_t& layout,
                        const dttrain_factor& factor,
                        cudaDataType type,
                        int rows,
                        int columns,
                        int count) {
  if (factor.is_transposed != 0) std::swap(rows, columns);
  return describe(layout, type, rows, columns, factor.pitch, count, factor.stride);
}

cublasStatus_t describe(ChosenProduct& chosen, const dttrain_product& p) {
  // TF32 only on request; sums of bf16 products are fp32.
  const cublasComputeType_t sums =
      p.factors == DTTRAIN_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  cublasStatus_t status = cublasLtMatmulDescInit(&chosen.operation, sums, CUDA_R_32F);
  const cublasOperation_t right = p.right.is_transposed != 0 ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t left = p.left.is_transposed != 0 ? CUBLAS_OP_T : CUBLAS_OP_N;
  if (status == CUBLAS_STATUS_SUCCESS)
    status = cublasLtMatmulDescSetAttribute(
        &chosen.operation, CUBLASLT_MATMUL_DESC_TRANSA, &right, sizeof right);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = cublasLtMatmulDescSetAttribute(
        &chosen.operation, CUBLASLT_MATMUL_DESC_TRANSB, &left, sizeof left);
  const cublasLtEpilogue_t epilogue = epilogue_of(p);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = cublasLtMatmulDescSetAttribute(
        &chosen.operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  const std::int64_t pitch_before = p.pitch;
  if (status == CUBLAS_STATUS_SUCCESS && p.before != nullptr)
    status = cublasLtMatmulDescSetAttribute(&chosen.operation,
                                            CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
                                            &pitch_before,
                                            sizeof pitch_before);
  if (status == CUBLAS_STATUS_SUCCESS) status = set_arrays(chosen, p);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = describe(chosen.right, p.right, type_of(p), p.inner, p.columns, p.count);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = describe(chosen.left, p.left, type_of(p), p.rows, p.inner, p.count);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = describe(chosen.out, type_of_out(p), p.rows, p.columns, p.pitch, p.count, p.stride);
  return status;
}

cublasStatus_t limit(cublasLtMatmulPreferenceOpaque_t& preference, const dttrain_product& p) {
  const std::uint64_t workspace = dttrain_context::k_workspace;
  const std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_NONE;
  const auto right = static_cast<std::uint32_t>(alignment_of(p.right.values));
  const auto left = static_cast<std::uint32_t>(alignment_of(p.left.values));
  const auto out = static_cast<std::uint32_t>(alignment_of(p.out));
  const auto plus = p.plus == nullptr ? out : static_cast<std::uint32_t>(alignment_of(p.plus));

  struct Limit {
    cublasLtMatmulPreferenceAttributes_t attribute;
    const void* value;
    std::size_t bytes;
  };

  const Limit limits[] = {
      {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace},
      {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions, sizeof reductions},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &right, sizeof right},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &left, sizeof left},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &plus, sizeof plus},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &out, sizeof out}};
  cublasStatus_t status = cublasLtMatmulPreferenceInit(&preference);
  for (const Limit& one : limits)
    if (status == CUBLAS_STATUS_SUCCESS)
      status =
          cublasLtMatmulPreferenceSetAttribute(&preference, one.attribute, one.value, one.bytes);
  return status;
}

// Whether the algorithm says that it splits sums in spite of the preferences.
bool splits(const cublasLtMatmulAlgo_t& algorithm) {
  std::int32_t parts = 0;
  std::size_t written = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoConfigGetAttribute(
      &algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts, sizeof parts, &written);
  return status == CUBLAS_STATUS_SUCCESS && parts > 1;
}

cublasStatus_t run(dttrain_context& context, ChosenProduct& chosen, const dttrain_product& p) {
  const cublasStatus_t status = set_arrays(chosen, p);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const float alpha = 1;
  const float beta = p.plus != nullptr ? 1 : 0;
  return cublasLtMatmul(context.products,
                        &chosen.operation,
                        &alpha,
                        p.right.values,
                        &chosen.right,
                        p.left.values,
                        &chosen.left,
                        &beta,
                        p.plus != nullptr ? p.plus : p.out,
                        &chosen.out,
                        p.out,
                        &chosen.out,
                        &chosen.algorithm,
                        context.workspace,
                        dttrain_context::k_workspace,
                        context.stream);
}

// Runs the product with the best algorithm that works; the library may refuse one that it offered.
// CUBLAS_STATUS_NOT_SUPPORTED if there is none.
cublasStatus_t find_and_run(dttrain_context& context,
                            ChosenProduct& chosen,
                            const dttrain_product& p) {
  cublasLtMatmulPreferenceOpaque_t preference;
  cublasStatus_t status = describe(chosen, p);
  if (status == CUBLAS_STATUS_SUCCESS) status = limit(preference, p);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  cublasLtMatmulHeuristicResult_t found[16];
  int count = 0;
  status = cublasLtMatmulAlgoGetHeuristic(context.products,
                                          &chosen.operation,
                                          &chosen.right,
                                          &chosen.left,
                                          &chosen.out,
                                          &chosen.out,
                                          &preference,
                                          static_cast<int>(std::size(found)),
                                          found,
                                          &count);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  for (int i = 0; i < count; ++i) {
    if (found[i].state != CUBLAS_STATUS_SUCCESS || splits(found[i].algo)) continue;
    chosen.algorithm = found[i].algo;
    status = run(context, chosen, p);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED && status != CUBLAS_STATUS_INVALID_VALUE)
      return status;
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

// Uses the library's curve if there is an algorithm for it and the output is rounded, because the
// library's GELU is approximate. The library reads 8 values of `before` at a time.
cublasStatus_t choose_and_run(dttrain_context& context,
                              ChosenProduct& chosen,
                              const dttrain_product& p) {
  const bool is_offered = p.curve == DTTRAIN_GELU ? context.fuses_gelu
                          : p.curve == DTTRAIN_GELU_GRADIENT
                              ? context.fuses_gelu_gradient && p.bias == nullptr
                              : false;
  chosen.how = ChosenProduct::How::with_curve;
  if (is_offered && p.rounds != 0 && p.pitch % 8 == 0 &&
      find_and_run(context, chosen, p) == CUBLAS_STATUS_SUCCESS)
    return CUBLAS_STATUS_SUCCESS;
  chosen.how = ChosenProduct::How::straight;
  const cublasStatus_t status = find_and_run(context, chosen, straight(p));
  if (status != CUBLAS_STATUS_NOT_SUPPORTED) return status;
  chosen.how = ChosenProduct::How::by_kernel;
  ++context.products_by_kernel;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

const char* cuda_multiply(dttrain_context* context, const dttrain_product* product) {
  using How = ChosenProduct::How;
  const auto [at, is_new] = context->chosen.try_emplace(shape_of(*product));
  ChosenProduct& chosen = at->second;  // its descriptors must not move
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  if (is_new)
    status = choose_and_run(*context, chosen, *product);
  else if (chosen.how != How::by_kernel)
    status = run(*context, chosen, chosen.how == How::straight ? straight(*product) : *product);
  const How how = chosen.how;
  if (is_new && status != CUBLAS_STATUS_SUCCESS) context->chosen.erase(at);
  const char* wrong =
      context->check(status, is_new ? "choosing an algorithm for a product" : "cublasLtMatmul");
  if (wrong == nullptr && how == How::by_kernel)
    wrong = cuda_multiply_by_kernel(context, straight(*product));
  if (wrong != nullptr || product->curve == DTTRAIN_STRAIGHT) return wrong;
  return how == How::with_curve ? cuda_add_columns(context, *product)
                                : cuda_curve(context, *product);
}
