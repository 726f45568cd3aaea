/* SPDX-License-Identifier: Apache-2.0 */
/* The complete interface between dttrain and a module for a kind of device: one symbol, one table
 * of functions. C99.
 *
 * A module is a shared object `dttrain-NAME.so` that exports one function,
 *
 *     DTTRAIN_DEVICE_EXPORT const struct dttrain_device* dttrain_device_v1(void);
 *
 * Modules are never unloaded. Work of a context is enqueued in its streams. Within a stream, each
 * piece of work begins after the one before has ended; between streams, only events define an
 * order. Functions that return `const char*` return NULL, or an error message, valid until the
 * context's next call. After an error, only release, free_event, free_graph and close may be called
 * for the context. Not thread-safe: a context belongs to the thread that opened it. */
#ifndef DTTRAIN_DEVICE_H
#define DTTRAIN_DEVICE_H

#include "core/train/accelerator/exchange/dttrain_exchange.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define DTTRAIN_DEVICE_EXPORT extern "C" __attribute__((visibility("default")))
extern "C" {
#else
#define DTTRAIN_DEVICE_EXPORT __attribute__((visibility("default")))
#endif

/* Must be increased whenever this file changes. */
#define DTTRAIN_DEVICE_ABI 6u
#define DTTRAIN_DEVICE_SYMBOL "dttrain_device_v1"

/* What a machine lacks. */
enum dttrain_lack {
  DTTRAIN_LACKS_NOTHING = 0,
  DTTRAIN_LACKS_DRIVER = 1,
  DTTRAIN_LACKS_NEWER_DRIVER = 2,
  DTTRAIN_LACKS_DEVICE = 3,
  DTTRAIN_LACKS_NEWER_DEVICE = 4,
  DTTRAIN_LACKS_OTHER = 5 /* see text */
};

struct dttrain_answer {
  int lack;       /* enum dttrain_lack */
  char text[256]; /* what was found instead, for users; empty if nothing is lacking */
};

struct dttrain_facts {
  char name[128];      /* "NVIDIA H100 80GB HBM3" */
  char uuid[64];       /* unique among the devices of all machines */
  char libraries[128]; /* determine bits, too: "cuBLASLt 13.1.0, CUDA 13.0" */
  char driver[64];     /* "580.65.06, CUDA 13.0" */
  uint64_t memory;     /* bytes that are free now */
  int ecc;             /* of its memory: 1 on, 0 off, -1 unknown */
  int clock;           /* the highest of its processors, MHz; 0: unknown */
  int memory_clock;    /* the highest of its memory, MHz; 0: unknown */
  int numa;            /* its nearest NUMA node, which has the memory of allocate_host();
                          -1: unknown */
  char pci[32];        /* address, as in sysfs: "0000:3b:00.0" */
  int slow_products;   /* shapes of products so far for which its library has no algorithm, and
                          that a slower kernel computes */
};

struct dttrain_context;

/* Streams of a context: for kernels, products and clear(); for to_device(); for to_host(). */
enum dttrain_stream { DTTRAIN_COMPUTE = 0, DTTRAIN_COPY_IN = 1, DTTRAIN_COPY_OUT = 2 };

#define DTTRAIN_STREAMS 3

/* A point in a stream. */
struct dttrain_event;

/* Kernels, products and clears that are enqueued together. */
struct dttrain_graph;

/* The types of a product's factors. */
enum dttrain_factors {
  DTTRAIN_FP32 = 0, /* float, exactly */
  DTTRAIN_TF32 = 1, /* float; may be reduced to 10 bits of fraction */
  DTTRAIN_BF16 = 2  /* the upper half of a float */
};

/* A row-major matrix in the device's memory. */
struct dttrain_factor {
  const void* values; /* of the product's enum dttrain_factors */
  int pitch;          /* values from one row to the next in memory */
  int is_transposed;
  int64_t stride; /* values from one matrix of a batch to the next */
};

/* A function applied to each sum before it is stored. GELU is the tanh approximation (D. Hendrycks
 * and K. Gimpel, "Gaussian Error Linear Units", 2016, section 2). */
enum dttrain_curve {
  DTTRAIN_STRAIGHT = 0,
  DTTRAIN_GELU = 1,         /* stores the sum in `before`, and its GELU in `out` */
  DTTRAIN_GELU_GRADIENT = 2 /* stores the sum times the derivative of GELU at `before` */
};

/* Computes out = left right + plus + bias for each of `count` matrices; sums are float. */
struct dttrain_product {
  struct dttrain_factor left;  /* [rows][inner] after any transposition */
  struct dttrain_factor right; /* [inner][columns], likewise */
  void* out;                   /* [rows][columns] */
  int rows;
  int columns;
  int inner;
  int pitch;
  int64_t stride;
  int count;
  int factors;      /* enum dttrain_factors */
  int rounds;       /* 1: out, plus and bias are upper halves of floats, and out is rounded to
                       nearest, ties to even; 0: they are float */
  const void* plus; /* same layout as `out`, or `out` itself; NULL: zero */
  const void* bias; /* [columns], the same for each row; NULL: zero */
  int curve;        /* enum dttrain_curve; a GELU is only for a single matrix without gaps
                       between rows */
  void* before;     /* same layout as `out`, which it must not overlap; NULL if straight */
  float* sums;      /* the gradient of a GELU also stores the sums of the columns of `out` in each
                       run of `sum_rows` rows, [runs][columns]; NULL: it does not */
  int sum_rows;
};

struct dttrain_device {
  uint32_t abi_version; /* DTTRAIN_DEVICE_ABI */
  uint32_t struct_size; /* sizeof(struct dttrain_device) when the module was compiled */
  uint64_t kernels;     /* Kernels::signature() when the module was compiled */
  const char* name;     /* "cuda", as in the file's name */

  /* The number of devices; if it is 0, `answer` says what is lacking. */
  int (*count)(struct dttrain_answer* answer);

  /* Opens the device of that number, from 0; NULL if something is lacking. */
  struct dttrain_context* (*open)(int device, struct dttrain_answer* answer);
  void (*close)(struct dttrain_context* context);
  const char* (*facts)(struct dttrain_context* context, struct dttrain_facts* facts);

  /* Device memory, and pinned host memory, which it copies fast. The content is undefined. */
  const char* (*allocate)(struct dttrain_context* context, size_t bytes, void** at);
  void (*release)(struct dttrain_context* context, void* at);
  const char* (*allocate_host)(struct dttrain_context* context, size_t bytes, void** at);
  void (*release_host)(struct dttrain_context* context, void* at);

  /* These enqueue work. Host memory must be from allocate_host(), and must not be touched until the
   * copy has ended. */
  const char* (*to_device)(struct dttrain_context* context,
                           void* to,
                           const void* from,
                           size_t bytes);
  const char* (*to_host)(struct dttrain_context* context, void* to, const void* from, size_t bytes);
  const char* (*clear)(struct dttrain_context* context, void* at, size_t bytes); /* to zero bytes */
  const char* (*launch)(struct dttrain_context* context, uint32_t kernel, const void* arguments);
  /* Must always compute the same bits for the same shape and values. */
  const char* (*multiply)(struct dttrain_context* context, const struct dttrain_product* product);

  /* Waits until all enqueued work has ended. */
  const char* (*wait)(struct dttrain_context* context);

  /* Events. record() moves an event to the end of what is in the stream now. Work that is enqueued
   * in a stream after follow() begins once the event has been reached; wait_event() blocks the host
   * until then. An event that was never recorded counts as reached. */
  const char* (*new_event)(struct dttrain_context* context,
                           int is_timed,
                           struct dttrain_event** event);
  void (*free_event)(struct dttrain_context* context, struct dttrain_event* event);
  const char* (*record)(struct dttrain_context* context, struct dttrain_event* event, int stream);
  const char* (*follow)(struct dttrain_context* context, int stream, struct dttrain_event* event);
  const char* (*wait_event)(struct dttrain_context* context, struct dttrain_event* event);
  /* The time between two reached events with is_timed, by the device's clock. */
  const char* (*seconds_between)(struct dttrain_context* context,
                                 struct dttrain_event* first,
                                 struct dttrain_event* last,
                                 double* seconds);

  /* Graphs; all four are NULL if they are not supported. From begin_graph() to end_graph(),
   * launch(), multiply() and clear() enqueue nothing, but are added to the graph with their current
   * arguments; no other function may be called. If one of them or end_graph() fails, there is no
   * graph, but the context can still be used. replay() enqueues the graph in DTTRAIN_COMPUTE. */
  const char* (*begin_graph)(struct dttrain_context* context);
  const char* (*end_graph)(struct dttrain_context* context, struct dttrain_graph** graph);
  const char* (*replay)(struct dttrain_context* context, struct dttrain_graph* graph);
  void (*free_graph)(struct dttrain_context* context, struct dttrain_graph* graph);

  /* Transfers between the devices of several processes; NULL if not supported. */
  const struct dttrain_exchange* exchange;

  /* For measurements. Unlike the others, these may also be called after the thread has opened
   * further contexts. */
  /* Enqueue copies within the device's memory, and to it from another context's device. */
  const char* (*copy)(struct dttrain_context* context, void* to, const void* from, size_t bytes);
  const char* (*copy_from)(struct dttrain_context* context,
                           void* to,
                           struct dttrain_context* other,
                           const void* from,
                           size_t bytes);
  /* Enables direct copies between both devices, without host memory, if possible. */
  const char* (*reach)(struct dttrain_context* context,
                       struct dttrain_context* other,
                       int* is_direct);
  /* Pins existing host memory, as allocate_host() does with new memory, until unpin(). */
  const char* (*pin)(struct dttrain_context* context, void* at, size_t bytes);
  void (*unpin)(struct dttrain_context* context, void* at);
  /* Measures what is enqueued between both calls, in seconds of the device's clock; the second one
   * waits for it. */
  const char* (*start_timer)(struct dttrain_context* context);
  const char* (*stop_timer)(struct dttrain_context* context, double* seconds);
};

/* The type of dttrain_device_v1. */
typedef const struct dttrain_device* (*dttrain_device_entry)(void);

#ifdef __cplusplus
}
#endif
#endif
