// SPDX-License-Identifier: Apache-2.0
// What the functions of the module's table share: one device, its stream, and what went wrong.
#pragma once

#include "core/train/accelerator/dttrain_device.h"

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <array>
#include <map>
#include <memory>
#include <string>

// A product of one shape as cuBLASLt has it, with the algorithm that was chosen once.
struct ChosenProduct {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t right;  // what cuBLASLt, which counts by columns, calls A
  cublasLtMatrixLayoutOpaque_t left;   // B
  cublasLtMatrixLayoutOpaque_t out;
  cublasLtMatmulAlgo_t algorithm;
};

class CudaLink;

struct dttrain_context {
  using Shape = std::array<long long, 17>;

  static constexpr std::size_t k_workspace = std::size_t{32} << 20;

  int device = 0;
  cudaStream_t stream = nullptr;
  cublasLtHandle_t products = nullptr;
  void* workspace = nullptr;
  std::map<Shape, ChosenProduct> chosen;
  std::string wrong;
  std::shared_ptr<CudaLink> link;  // to other ranks' devices; nullptr: none yet

  // NULL, or "what: CUDA's name of the error: its words".
  const char* check(cudaError_t status, const char* what);
  const char* check(cublasStatus_t status, const char* what);
};

// In the table; memory.cpp:
const char* cuda_allocate(dttrain_context* context, size_t bytes, void** at);
void cuda_release(dttrain_context* context, void* at);
const char* cuda_allocate_host(dttrain_context* context, size_t bytes, void** at);
void cuda_release_host(dttrain_context* context, void* at);
const char* cuda_to_device(dttrain_context* context, void* to, const void* from, size_t bytes);
const char* cuda_to_host(dttrain_context* context, void* to, const void* from, size_t bytes);
const char* cuda_clear(dttrain_context* context, void* at, size_t bytes);
const char* cuda_wait(dttrain_context* context);
// products.cpp:
const char* cuda_multiply(dttrain_context* context, const dttrain_product* product);
// launch.cu:
const char* cuda_launch(dttrain_context* context, uint32_t kernel, const void* arguments);
// nccl.cpp; only where NCCL's header was found:
const dttrain_exchange* cuda_exchange();
// Whether the device can run the kernels that were compiled.
cudaError_t cuda_find_kernels();
