// SPDX-License-Identifier: Apache-2.0
// The streams of a context, and events between them.
#include "plugins/cuda/context.hpp"

#include <memory>

struct dttrain_event {
  cudaEvent_t at = nullptr;
};

cudaStream_t dttrain_context::of(int which) const {
  if (which == DTTRAIN_COPY_IN) return copy_in;
  return which == DTTRAIN_COPY_OUT ? copy_out : stream;
}

const char* cuda_begin_streams(dttrain_context* context) {
  for (cudaStream_t* const one : {&context->stream, &context->copy_in, &context->copy_out})
    if (const char* const wrong = context->check(
            cudaStreamCreateWithFlags(one, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"))
      return wrong;
  return nullptr;
}

void cuda_end_streams(dttrain_context* context) {
  for (cudaStream_t const one : {context->stream, context->copy_in, context->copy_out})
    if (one != nullptr) (void)cudaStreamDestroy(one);
}

const char* cuda_wait(dttrain_context* context) {
  for (int which = 0; which < DTTRAIN_STREAMS; ++which)
    if (const char* const wrong =
            context->check(cudaStreamSynchronize(context->of(which)), "cudaStreamSynchronize"))
      return wrong;
  return nullptr;
}

// Events without timing are cheaper to wait for.
const char* cuda_new_event(dttrain_context* context, int is_timed, dttrain_event** event) {
  auto made = std::make_unique<dttrain_event>();
  const unsigned flags = is_timed != 0 ? cudaEventDefault : cudaEventDisableTiming;
  const char* const wrong =
      context->check(cudaEventCreateWithFlags(&made->at, flags), "cudaEventCreateWithFlags");
  if (wrong == nullptr) *event = made.release();
  return wrong;
}

void cuda_free_event(dttrain_context* /*context*/, dttrain_event* event) {
  (void)cudaEventDestroy(event->at);
  delete event;
}

const char* cuda_record(dttrain_context* context, dttrain_event* event, int stream) {
  return context->check(cudaEventRecord(event->at, context->of(stream)), "cudaEventRecord");
}

const char* cuda_follow(dttrain_context* context, int stream, dttrain_event* event) {
  return context->check(cudaStreamWaitEvent(context->of(stream), event->at, 0),
                        "cudaStreamWaitEvent");
}

const char* cuda_wait_event(dttrain_context* context, dttrain_event* event) {
  return context->check(cudaEventSynchronize(event->at), "cudaEventSynchronize");
}

const char* cuda_seconds_between(dttrain_context* context,
                                 dttrain_event* first,
                                 dttrain_event* last,
                                 double* seconds) {
  float milliseconds = 0;
  const char* const wrong = context->check(cudaEventElapsedTime(&milliseconds, first->at, last->at),
                                           "cudaEventElapsedTime");
  *seconds = static_cast<double>(milliseconds) / 1000;
  return wrong;
}
