/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers between the devices of different processes: the part of a module's table
 * (dttrain_device.h) for jobs with several processes. C99.
 *
 * A context has one link, to all ranks of the job, from join() until its end. Each group of
 * messages is enqueued in the context's stream like other work. No function waits for another
 * process: the caller asks progress() how far things are, and decides when it takes too long.
 * Errors are as in dttrain_device.h; progress() returns an error that another rank has caused. */
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
  char library[64];   /* "NCCL 2.28.9"; must be the same on all ranks of a job */
  char path[256];     /* where it was found */
  int shares_devices; /* whether ranks may share a device */
};

/* A message to or from a rank, which may be this one. Both sides must pass the same size. */
struct dttrain_message {
  void* at; /* in the device's memory */
  size_t bytes;
  int peer;
  int is_sent; /* 0: received */
};

struct dttrain_progress {
  int is_idle;    /* join() or leave() has ended, and all posted groups are in the stream */
  uint64_t ended; /* number of groups, in order of posting, that the device has completed */
};

struct dttrain_exchange {
  /* Loads the library that carries messages, unless it is loaded already. */
  const char* (*find)(struct dttrain_context* context, struct dttrain_link_facts* facts);

  /* Makes the id of a job's link. One rank calls this and sends the id to all others. */
  const char* (*make_id)(struct dttrain_context* context, unsigned char* id);

  /* Begins to link this rank to the other `ranks`. `shares`: whether some share a device. */
  const char* (*join)(
      struct dttrain_context* context, const unsigned char* id, int ranks, int rank, int shares);

  /* Enqueues a group of messages, which all begin together. Messages between two ranks match in
   * order. Other work may be enqueued once progress() reports is_idle. */
  const char* (*post)(struct dttrain_context* context,
                      const struct dttrain_message* messages,
                      size_t count);

  const char* (*progress)(struct dttrain_context* context, struct dttrain_progress* progress);

  /* Begins to end the link. All groups must have ended. */
  const char* (*leave)(struct dttrain_context* context);

  /* Ends the link at once, even with groups in flight; other ranks may get errors. The only
   * function that another thread may call, while no other function is being called. */
  void (*abort)(struct dttrain_context* context);
};

#ifdef __cplusplus
}
#endif
#endif
