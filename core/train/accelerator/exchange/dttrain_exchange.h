/* SPDX-License-Identifier: Apache-2.0 */
/* How arrays go from the device of one process to that of another: the part of a module's table
 * (dttrain_device.h) that is for jobs of several processes. Pure C99.
 *
 * A context has one link, to all ranks of the job, from join() until its end. Each group of
 * messages is enqueued in the context's queue like anything else. Nothing here waits for another
 * process: progress() says how far things are, and whoever asks knows when it has been too long.
 * Errors are as in dttrain_device.h; one that another rank has caused is known by progress(). */
#ifndef DTTRAIN_EXCHANGE_H
#define DTTRAIN_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dttrain_context;

enum { DTTRAIN_LINK_ID_BYTES = 128 };

struct dttrain_link_facts {
  char library[64];   /* "NCCL 2.28.9"; the same on all ranks of a job */
  char path[256];     /* where it was found */
  int shares_devices; /* whether several ranks may have one device */
};

/* To or from a rank, which may be the context's own. Both sides have the same number of bytes. */
struct dttrain_message {
  void* at; /* in the device's memory */
  size_t bytes;
  int peer;
  int is_sent; /* otherwise received */
};

struct dttrain_progress {
  int is_idle; /* join() has ended, and all groups that were posted are in the queue, or leave() */
  uint64_t ended; /* groups that the device has ended with, which are the first so many */
};

struct dttrain_exchange {
  /* The library that carries messages, which is loaded now if it has not been. */
  const char* (*find)(struct dttrain_context* context, struct dttrain_link_facts* facts);

  /* One for each job, made by one rank, which tells all others. */
  const char* (*make_id)(struct dttrain_context* context, unsigned char* id);

  /* Begins to link this rank to the others of `ranks`. `shares`: some of them have one device. */
  const char* (*join)(
      struct dttrain_context* context, const unsigned char* id, int ranks, int rank, int shares);

  /* Enqueues a group of messages, which all begin together; those between two ranks are matched in
   * their order. Anything else may be enqueued once progress() says `is_idle`. */
  const char* (*post)(struct dttrain_context* context,
                      const struct dttrain_message* messages,
                      size_t count);

  const char* (*progress)(struct dttrain_context* context, struct dttrain_progress* progress);

  /* Begins to end the link, once all groups have ended. */
  const char* (*leave)(struct dttrain_context* context);

  /* Ends it at once, also groups that are under way; other ranks may notice. The only function that
   * may be called by another thread, while no other one is. */
  void (*abort)(struct dttrain_context* context);
};

#ifdef __cplusplus
}
#endif
#endif
