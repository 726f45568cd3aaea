/* SPDX-License-Identifier: Apache-2.0 */
/* The whole interface between dttrain and a module for a kind of device: one symbol, one table of
 * functions. Pure C99.
 *
 * A module is a shared object `dttrain-NAME.so` that exports one function,
 *
 *     DTTRAIN_DEVICE_EXPORT const struct dttrain_device* dttrain_device_v1(void);
 *
 * Modules are never unloaded. All work of a context is enqueued in one queue, in which each piece
 * begins after the one before has ended. Functions that return `const char*` return NULL, or what
 * went wrong: a text that is valid until the context's next call. After that a context is of no use
 * but for release and close. Not thread-safe: a context belongs to the thread that opened it. */
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
#define DTTRAIN_DEVICE_ABI 2u
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
};

struct dttrain_context;

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

/* out = left right, or out += left right, of each of `count` matrices; sums are float. */
struct dttrain_product {
  struct dttrain_factor left;  /* [rows][inner] after any transposition */
  struct dttrain_factor right; /* [inner][columns], likewise */
  float* out;                  /* [rows][columns] */
  int rows;
  int columns;
  int inner;
  int pitch;
  int64_t stride;
  int count;
  int adds;
  int factors; /* enum dttrain_factors */
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

  /* Enqueue. Host memory is that of allocate_host, and left alone until wait() has returned. */
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

  /* Between the devices of several processes; NULL if this module has nothing for that. */
  const struct dttrain_exchange* exchange;
};

/* The type of dttrain_device_v1. */
typedef const struct dttrain_device* (*dttrain_device_entry)(void);

#ifdef __cplusplus
}
#endif
#endif
