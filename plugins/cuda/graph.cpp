// SPDX-License-Identifier: Apache-2.0
// Graphs of work for the stream of kernels.
#include "plugins/cuda/context.hpp"

struct dttrain_graph {
  cudaGraphExec_t at = nullptr;
};

namespace {

// Clears CUDA's error, so that the next launch does not report it again.
const char* refused(dttrain_context* context, cudaError_t status, const char* what) {
  (void)cudaGetLastError();
  return context->check(status, what);
}

}  // namespace

// Thread-local, so that other threads, as those of NCCL, may make calls that a capture forbids.
const char* cuda_begin_graph(dttrain_context* context) {
  const cudaError_t status =
      cudaStreamBeginCapture(context->stream, cudaStreamCaptureModeThreadLocal);
  return status == cudaSuccess ? nullptr : refused(context, status, "cudaStreamBeginCapture");
}

const char* cuda_end_graph(dttrain_context* context, dttrain_graph** graph) {
  cudaGraph_t captured = nullptr;
  if (const cudaError_t status = cudaStreamEndCapture(context->stream, &captured);
      status != cudaSuccess)
    return refused(context, status, "cudaStreamEndCapture");
  cudaGraphExec_t made = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&made, captured, 0);
  (void)cudaGraphDestroy(captured);  // the instantiated graph is a copy
  if (status != cudaSuccess) return refused(context, status, "cudaGraphInstantiate");
  *graph = new dttrain_graph{made};
  return nullptr;
}

const char* cuda_replay(dttrain_context* context, dttrain_graph* graph) {
  return context->check(cudaGraphLaunch(graph->at, context->stream), "cudaGraphLaunch");
}

void cuda_free_graph(dttrain_context* /*context*/, dttrain_graph* graph) {
  (void)cudaGraphExecDestroy(graph->at);
  delete graph;
}
