// SPDX-License-Identifier: Apache-2.0
// Shared by the functions of the module's table: one device, its streams, and the latest error.
#pragma once

#include "core/train/accelerator/dttrain_device.h"

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <array>
#include <map>
#include <memory>
#include <string>

// A product of one shape as cuBLASLt describes it, with the chosen algorithm.
struct ChosenProduct {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t right;  // A for cuBLASLt, which is column-major
  cublasLtMatrixLayoutOpaque_t left;   // B
  cublasLtMatrixLayoutOpaque_t out;
  cublasLtMatmulAlgo_t algorithm;

  // The library with the curve; the library, and then a kernel for the curve, if any; kernels only,
  // since the library has no algorithm.
  enum class How { with_curve, straight, by_kernel };
  How how = How::straight;
};

class CudaLink;

struct dttrain_context {
  using Shape = std::array<long long, 23>;

  static constexpr std::size_t k_workspace = std::size_t{32} << 20;

  static constexpr std::size_t k_of_driver = 0;  // the size noted for pages of cudaHostAlloc()

  int device = 0;
  // Whether epilogues of this device's products are fast enough to be used.
  bool fuses_gelu = false;
  bool fuses_gelu_gradient = false;
  int numa = -1;                        // nearest NUMA node for host memory; -1: unknown
  std::map<void*, std::size_t> pinned;  // size by address
  cudaStream_t stream = nullptr;        // DTTRAIN_COMPUTE
  cudaStream_t copy_in = nullptr;
  cudaStream_t copy_out = nullptr;
  cublasLtHandle_t products = nullptr;
  void* workspace = nullptr;
  std::map<Shape, ChosenProduct> chosen;
  int products_by_kernel = 0;  // shapes
  cudaEvent_t timer[2] = {};   // created on first use
  std::string wrong;
  std::shared_ptr<CudaLink> link;  // to other ranks' devices; nullptr: none yet

  [[nodiscard]] cudaStream_t of(int which) const;

  // NULL if status is success, otherwise "what: CUDA's name of the error: its description".
  const char* check(cudaError_t status, const char* what);
  const char* check(cublasStatus_t status, const char* what);
};

// Functions in the table; memory.cpp:
const char* cuda_allocate(dttrain_context* context, size_t bytes, void** at);
void cuda_release(dttrain_context* context, void* at);
const char* cuda_to_device(dttrain_context* context, void* to, const void* from, size_t bytes);
const char* cuda_to_host(dttrain_context* context, void* to, const void* from, size_t bytes);
const char* cuda_clear(dttrain_context* context, void* at, size_t bytes);
// streams.cpp:
const char* cuda_wait(dttrain_context* context);
const char* cuda_new_event(dttrain_context* context, int is_timed, dttrain_event** event);
void cuda_free_event(dttrain_context* context, dttrain_event* event);
const char* cuda_record(dttrain_context* context, dttrain_event* event, int stream);
const char* cuda_follow(dttrain_context* context, int stream, dttrain_event* event);
const char* cuda_wait_event(dttrain_context* context, dttrain_event* event);
const char* cuda_seconds_between(dttrain_context* context,
                                 dttrain_event* first,
                                 dttrain_event* last,
                                 double* seconds);
// graph.cpp:
const char* cuda_begin_graph(dttrain_context* context);
const char* cuda_end_graph(dttrain_context* context, dttrain_graph** graph);
const char* cuda_replay(dttrain_context* context, dttrain_graph* graph);
void cuda_free_graph(dttrain_context* context, dttrain_graph* graph);
// host_memory.cpp:
const char* cuda_allocate_host(dttrain_context* context, size_t bytes, void** at);
void cuda_release_host(dttrain_context* context, void* at);
// The NUMA node of the device with this PCI address, from sysfs; -1 if unknown.
int cuda_numa_of(const char* pci);
// products.cpp:
const char* cuda_multiply(dttrain_context* context, const dttrain_product* product);
// measure.cpp:
const char* cuda_copy(dttrain_context* context, void* to, const void* from, size_t bytes);
const char* cuda_copy_from(
    dttrain_context* context, void* to, dttrain_context* other, const void* from, size_t bytes);
const char* cuda_reach(dttrain_context* context, dttrain_context* other, int* is_direct);
const char* cuda_pin(dttrain_context* context, void* at, size_t bytes);
void cuda_unpin(dttrain_context* context, void* at);
const char* cuda_start_timer(dttrain_context* context);
const char* cuda_stop_timer(dttrain_context* context, double* seconds);
// launch.cu:
const char* cuda_launch(dttrain_context* context, uint32_t kernel, const void* arguments);
// For open() and close(), also in streams.cpp:
const char* cuda_begin_streams(dttrain_context* context);
void cuda_end_streams(dttrain_context* context);
// nccl.cpp; only where NCCL's header was found:
const dttrain_exchange* cuda_exchange();
// Whether the device can run the kernels that were compiled.
cudaError_t cuda_find_kernels();
