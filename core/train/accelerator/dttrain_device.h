/* SPDX-License-Identifier: Apache-2.0 */
/* The whole interface between dttrain and a module for a kind of device: one symbol, one table of
 * functions. Pure C99.
 *
 * A module is a shared object `dttrain-NAME.so` that exports one function,
 *
 *     DTTRAIN_DEVICE_EXPORT const struct dttrain_device* dttrain_device_v1(void);
 *
 * Modules are never unloaded. Work of a context is enqueued in its streams, in each of which a
 * piece begins after the one before has ended; between streams only events make an order. Functions
 * that return `const char*` return NULL, or what went wrong: a text that is valid until the
 * context's next call. After that a context is of no use but for release, free_event, free_graph
 * and close. Not thread-safe: a context belongs to the thread that opened it. */
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

/* Changes with this file. */
#define DTTRAIN_DEVICE_ABI 4u
#define DTTRAIN_DEVICE_SYMBOL "dttrain_device_v1"

/* What a machine lacks. */
enum dttrain_lack {
  DTTRAIN_LACKS_NOTHING = 0,
  DTTRAIN_LACKS_DRIVER = 1,
  DTTRAIN_LACKS_NEWER_DRIVER = 2,
  DTTRAIN_LACKS_DEVICE = 3,
  DTTRAIN_LACKS_NEWER_DEVICE = 4,
  DTTRAIN_LACKS_OTHER = 5 /* as the text says */
};

struct dttrain_answer {
  int lack;       /* enum dttrain_lack */
  char text[256]; /* what was found instead, for people; empty if nothing is lacking */
};

struct dttrain_facts {
  char name[128];      /* "NVIDIA H100 80GB HBM3" */
  char uuid[64];       /* tells devices apart, on all machines */
  char libraries[128]; /* what decides bits besides the device: "cuBLASLt 13.1.0, CUDA 13.0" */
  char driver[64];     /* "580.65.06, CUDA 13.0" */
  uint64_t memory;     /* bytes that are free now */
  int ecc;             /* of its memory: 1 on, 0 off, -1 not known */
  int clock;           /* the highest of its processors, MHz; 0: not known */
  int memory_clock;    /* likewise */
  int numa;            /* the NUMA node that it is near, and that has its memory of the host;
                          -1: not known */
  char pci[32];        /* its address, as in sysfs: "0000:3b:00.0" */
};

struct dttrain_context;

/* Streams of a context: of kernels, products and clear(); of to_device(); of to_host(). */
enum dttrain_stream { DTTRAIN_COMPUTE = 0, DTTRAIN_COPY_IN = 1, DTTRAIN_COPY_OUT = 2 };

#define DTTRAIN_STREAMS 3

/* A place in a stream. */
struct dttrain_event;

/* Kernels, products and clears that are enqueued as one. */
struct dttrain_graph;

/* What products read. */
enum dttrain_factors {
  DTTRAIN_FP32 = 0, /* float, exactly */
  DTTRAIN_TF32 = 1, /* float, of whose fraction 10 bits may be all that is read */
  DTTRAIN_BF16 = 2  /* the upper half of a float */
};

/* A row-major matrix in the device's memory. */
struct dttrain_factor {
  const void* values; /* of the product's enum dttrain_factors */
  int pitch;          /* values from one row to the next, as it is in memory */
  int is_transposed;
  int64_t stride; /* values from one matrix of a batch to the next */
};

/* What a product does to each sum before it stores it. GELU is that of its tanh (D. Hendrycks and
 * K. Gimpel, "Gaussian Error Linear Units", 2016, section 2). */
enum dttrain_curve {
  DTTRAIN_STRAIGHT = 0,
  DTTRAIN_GELU = 1,         /* stores the sum in `before`, and its GELU in `out` */
  DTTRAIN_GELU_GRADIENT = 2 /* stores the sum, times the slope of GELU at the value in `before` */
};

/* out = left right + plus + bias, of each of `count` matrices; sums are float. */
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
  int rounds;       /* 1: out, plus and bias are the upper halves of floats, of which out's are the
                       nearest, ties to even; 0: they are float */
  const void* plus; /* as `out` is in memory, or `out` itself; NULL: zero */
  const void* bias; /* [columns], the same for each row; NULL: zero */
  int curve;        /* enum dttrain_curve; others than DTTRAIN_STRAIGHT of one matrix without gaps
                       between its rows */
  void* before;     /* as `out` is in memory, and apart from it; NULL if it is straight */
};

struct dttrain_device {
  uint32_t abi_version; /* DTTRAIN_DEVICE_ABI */
  uint32_t struct_size; /* sizeof(struct dttrain_device) where the module was compiled */
  uint64_t kernels;     /* Kernels::signature(), likewise */
  const char* name;     /* "cuda", as in the file's name */

  /* How many devices there are, or what is lacking. */
  int (*count)(struct dttrain_answer* answer);

  /* Of the device of that number, from 0; NULL if something is lacking. */
  struct dttrain_context* (*open)(int device, struct dttrain_answer* answer);
  void (*close)(struct dttrain_context* context);
  const char* (*facts)(struct dttrain_context* context, struct dttrain_facts* facts);

  /* Memory of the device, and memory of the host that it reads and writes fast. Undefined. */
  const char* (*allocate)(struct dttrain_context* context, size_t bytes, void** at);
  void (*release)(struct dttrain_context* context, void* at);
  const char* (*allocate_host)(struct dttrain_context* context, size_t bytes, void** at);
  void (*release_host)(struct dttrain_context* context, void* at);

  /* Enqueue. Host memory is that of allocate_host, and left alone until the copy has ended. */
  const char* (*to_device)(struct dttrain_context* context,
                           void* to,
                           const void* from,
                           size_t bytes);
  const char* (*to_host)(struct dttrain_context* context, void* to, const void* from, size_t bytes);
  const char* (*clear)(struct dttrain_context* context, void* at, size_t bytes); /* to zero bytes */
  const char* (*launch)(struct dttrain_context* context, uint32_t kernel, const void* arguments);
  /* The same bits for the same shape and values, always. */
  const char* (*multiply)(struct dttrain_context* context, const struct dttrain_product* product);

  /* Until all that was enqueued has ended. */
  const char* (*wait)(struct dttrain_context* context);

  /* Events. record() puts one behind what is in the stream now, wherever it was before. What is
   * enqueued in a stream after follow() begins once the stream of the event has come to it;
   * wait_event() is the same for the host. An event that was never recorded counts as reached. */
  const char* (*new_event)(struct dttrain_context* context,
                           int is_timed,
                           struct dttrain_event** event);
  void (*free_event)(struct dttrain_context* context, struct dttrain_event* event);
  const char* (*record)(struct dttrain_context* context, struct dttrain_event* event, int stream);
  const char* (*follow)(struct dttrain_context* context, int stream, struct dttrain_event* event);
  const char* (*wait_event)(struct dttrain_context* context, struct dttrain_event* event);
  /* Between two events of is_timed that have been reached, by the device's clock. */
  const char* (*seconds_between)(struct dttrain_context* context,
                                 struct dttrain_event* first,
                                 struct dttrain_event* last,
                                 double* seconds);

  /* Graphs; all four are NULL where there are none. From begin_graph() to end_graph(), launch(),
   * multiply() and clear() enqueue nothing but add to the graph, with their arguments as they are
   * then, and no other function may be called. What fails in between, or end_graph() itself, makes
   * no graph and does no other harm. replay() enqueues them in DTTRAIN_COMPUTE. */
  const char* (*begin_graph)(struct dttrain_context* context);
  const char* (*end_graph)(struct dttrain_context* context, struct dttrain_graph** graph);
  const char* (*replay)(struct dttrain_context* context, struct dttrain_graph* graph);
  void (*free_graph)(struct dttrain_context* context, struct dttrain_graph* graph);

  /* Between the devices of several processes; NULL if this module has nothing for that. */
  const struct dttrain_exchange* exchange;

  /* For measuring. Unlike the others, these may be called while the thread has opened further
   * contexts since. */
  /* Enqueue: within the device's memory, and to it from that of another context's device. */
  const char* (*copy)(struct dttrain_context* context, void* to, const void* from, size_t bytes);
  const char* (*copy_from)(struct dttrain_context* context,
                           void* to,
                           struct dttrain_context* other,
                           const void* from,
                           size_t bytes);
  /* Lets copies between both go without the host's memory, if that is possible: 1, otherwise 0. */
  const char* (*reach)(struct dttrain_context* context,
                       struct dttrain_context* other,
                       int* is_direct);
  /* Makes pages of the host what allocate_host() gives, wherever they are, until unpin(). */
  const char* (*pin)(struct dttrain_context* context, void* at, size_t bytes);
  void (*unpin)(struct dttrain_context* context, void* at);
  /* Seconds by the device's own clock for what was enqueued between both calls; the second one
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
