// SPDX-License-Identifier: Apache-2.0
// Device memory, and copies between it and host memory, on streams of their own.
#include "plugins/cuda/context.hpp"

const char* dttrain_context::check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return nullptr;
  wrong = std::string(what) + ": " + cudaGetErrorName(status) + ": " + cudaGetErrorString(status);
  return wrong.c_str();
}

const char* dttrain_context::check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return nullptr;
  wrong = std::string(what) + ": " + cublasLtGetStatusString(status);
  return wrong.c_str();
}

const char* cuda_allocate(dttrain_context* context, size_t bytes, void** at) {
  return context->check(cudaMalloc(at, bytes), "cudaMalloc");
}

void cuda_release(dttrain_context* /*context*/, void* at) {
  (void)cudaFree(at);  // errors of a broken device do not matter here
}

const char* cuda_to_device(dttrain_context* context, void* to, const void* from, size_t bytes) {
  return context->check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, context->copy_in),
                        "cudaMemcpyAsync to the device");
}

const char* cuda_to_host(dttrain_context* context, void* to, const void* from, size_t bytes) {
  return context->check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, context->copy_out),
                        "cudaMemcpyAsync to the host");
}

const char* cuda_clear(dttrain_context* context, void* at, size_t bytes) {
  return context->check(cudaMemsetAsync(at, 0, bytes, context->stream), "cudaMemsetAsync");
}
