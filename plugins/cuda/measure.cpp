// SPDX-License-Identifier: Apache-2.0
// Functions for measurements: copies within and between devices, pinning of existing host memory,
// and the device's clock. One thread may have contexts of several devices; CUDA requires that
// events and kernels are used on the current device.
#include "plugins/cuda/context.hpp"

namespace {

const char* select_device(dttrain_context& context) {
  return context.check(cudaSetDevice(context.device), "cudaSetDevice");
}

}  // namespace

const char* cuda_copy(dttrain_context* context, void* to, const void* from, size_t bytes) {
  return context->check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, context->stream),
                        "cudaMemcpyAsync on the device");
}

const char* cuda_copy_from(
    dttrain_context* context, void* to, dttrain_context* other, const void* from, size_t bytes) {
  return context->check(
      cudaMemcpyPeerAsync(to, context->device, from, other->device, bytes, context->stream),
      "cudaMemcpyPeerAsync");
}

const char* cuda_reach(dttrain_context* context, dttrain_context* other, int* is_direct) {
  *is_direct = 0;
  if (const char* const wrong = select_device(*context)) return wrong;
  int can = 0;
  if (const char* const wrong = context->check(
          cudaDeviceCanAccessPeer(&can, context->device, other->device), "cudaDeviceCanAccessPeer"))
    return wrong;
  if (can == 0) return nullptr;
  const cudaError_t status = cudaDeviceEnablePeerAccess(other->device, 0);
  *is_direct = 1;
  if (status != cudaErrorPeerAccessAlreadyEnabled)
    return context->check(status, "cudaDeviceEnablePeerAccess");
  (void)cudaGetLastError();  // clears the error
  return nullptr;
}

const char* cuda_pin(dttrain_context* context, void* at, size_t bytes) {
  // For all devices, not only the current one.
  return context->check(cudaHostRegister(at, bytes, cudaHostRegisterPortable), "cudaHostRegister");
}

void cuda_unpin(dttrain_context* /*context*/, void* at) {
  (void)cudaHostUnregister(at);
}

const char* cuda_start_timer(dttrain_context* context) {
  if (const char* const wrong = select_device(*context)) return wrong;
  for (cudaEvent_t& event : context->timer) {
    const cudaError_t status = event != nullptr ? cudaSuccess : cudaEventCreate(&event);
    if (const char* const wrong = context->check(status, "cudaEventCreate")) return wrong;
  }
  // Work that is enqueued next, in any stream, begins after this, since all streams are idle.
  if (const char* const wrong = cuda_wait(context)) return wrong;
  return context->check(cudaEventRecord(context->timer[0], context->stream), "cudaEventRecord");
}

const char* cuda_stop_timer(dttrain_context* context, double* seconds) {
  float milliseconds = 0;
  const char* wrong = select_device(*context);
  const auto then = [&](cudaError_t status, const char* what) {
    wrong = context->check(status, what);
  };
  // Waits for all streams: the event marks the end of each copy stream in turn, and then of all.
  for (cudaStream_t const copies : {context->copy_in, context->copy_out}) {
    if (wrong == nullptr) then(cudaEventRecord(context->timer[1], copies), "cudaEventRecord");
    if (wrong == nullptr)
      then(cudaStreamWaitEvent(context->stream, context->timer[1], 0), "cudaStreamWaitEvent");
  }
  if (wrong == nullptr)
    then(cudaEventRecord(context->timer[1], context->stream), "cudaEventRecord");
  if (wrong == nullptr) then(cudaEventSynchronize(context->timer[1]), "cudaEventSynchronize");
  if (wrong == nullptr)
    then(cudaEventElapsedTime(&milliseconds, context->timer[0], context->timer[1]),
         "cudaEventElapsedTime");
  *seconds = static_cast<double>(milliseconds) / 1000;
  return wrong;
}
