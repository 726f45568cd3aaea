// SPDX-License-Identifier: Apache-2.0
#include "tests/support/host_context.hpp"

namespace host_device {

const char* wait(dttrain_context* context) {
  if (const char* const wrong = broken("wait", *context)) return wrong;
  if (const char* const wrong = context->in_graph()) return wrong;
  for (int stream = 0; stream < DTTRAIN_STREAMS; ++stream)
    context->run_until(stream, context->of(stream).end());
  return nullptr;
}

const char* new_event(dttrain_context* /*context*/, int is_timed, dttrain_event** event) {
  *event = new dttrain_event;
  (*event)->is_timed = is_timed != 0;
  return nullptr;
}

void free_event(dttrain_context* /*context*/, dttrain_event* event) {
  delete event;
}

const char* record(dttrain_context* context, dttrain_event* event, int stream) {
  if (const char* const wrong = context->in_graph()) return wrong;
  const char* const wrong =
      context->enqueue(stream, [event] { event->at = std::chrono::steady_clock::now(); });
  event->stream = stream;
  event->place = context->of(stream).end();
  return wrong;
}

const char* follow(dttrain_context* context, int stream, dttrain_event* event) {
  if (const char* const wrong = context->in_graph()) return wrong;
  return context->enqueue(stream, [context, other = event->stream, place = event->place] {
    context->run_until(other, place);
  });
}

const char* wait_event(dttrain_context* context, dttrain_event* event) {
  if (const char* const wrong = context->in_graph()) return wrong;
  context->run_until(event->stream, event->place);
  return nullptr;
}

const char* seconds_between(dttrain_context* context,
                            dttrain_event* first,
                            dttrain_event* last,
                            double* seconds) {
  for (const dttrain_event* const event : {first, last})
    if (!event->is_timed || event->place == 0 || context->of(event->stream).done < event->place)
      return "an event has no time before it has been reached, or never";
  *seconds = std::chrono::duration<double>(last->at - first->at).count();
  return nullptr;
}

const char* begin_graph(dttrain_context* context) {
  if (const char* const wrong = context->in_graph()) return wrong;
  context->open = std::make_unique<dttrain_graph>();
  return nullptr;
}

const char* end_graph(dttrain_context* context, dttrain_graph** graph) {
  *graph = context->open.release();
  return *graph == nullptr ? "no graph is being made" : nullptr;
}

const char* replay(dttrain_context* context, dttrain_graph* graph) {
  if (const char* const wrong = context->in_graph()) return wrong;
  for (const auto& piece : graph->pieces) (void)context->enqueue(DTTRAIN_COMPUTE, piece);
  return nullptr;
}

void free_graph(dttrain_context* /*context*/, dttrain_graph* graph) {
  delete graph;
}

}  // namespace host_device
