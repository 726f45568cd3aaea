/* SPDX-License-Identifier: Apache-2.0 */
/* The whole interface between dtsubmit and a plug-in: one symbol, one struct, JSON text. Pure C99.
 *
 * A plug-in is a shared object `dtsubmit-NAME.so` that exports one function,
 *
 *     DTSUBMIT_PLUGIN_EXPORT const struct dtsubmit_plugin* dtsubmit_plugin_v1(void);
 *
 * which returns a struct that stays valid for the life of the process. Plug-ins are never unloaded.
 * dtsubmit-plugins(7) describes their operations and the JSON. */
#ifndef DTSUBMIT_PLUGIN_H
#define DTSUBMIT_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
#define DTSUBMIT_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
extern "C" {
#else
#define DTSUBMIT_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* Changes only when old plug-ins can no longer work. Otherwise new members are appended to the
 * struct, and `struct_size` shows which of them a plug-in has. */
#define DTSUBMIT_PLUGIN_ABI 3u
#define DTSUBMIT_PLUGIN_SYMBOL "dtsubmit_plugin_v1"

enum dtsubmit_plugin_kind { DTSUBMIT_PLUGIN_SCHEDULER = 1 };

struct dtsubmit_plugin {
  uint32_t abi_version;    /* DTSUBMIT_PLUGIN_ABI */
  uint32_t struct_size;    /* sizeof(struct dtsubmit_plugin) where the plug-in was compiled */
  uint32_t kind;           /* enum dtsubmit_plugin_kind */
  uint32_t reserved;       /* 0 */
  const char* name;        /* "slurm", as in the file's name */
  const char* version;     /* the plug-in's own version, for users */
  const char* description; /* one line, for users */

  /* Performs `operation` on `request`, a JSON object as NUL-terminated UTF-8, and returns
   * {"result": ...} or {"error": {"code": CODE, "message": TEXT, "hint": TEXT}} with CODE one of
   * rejected, unreachable, not_found, invalid, internal. The text belongs to the caller, who passes
   * it to release(). NULL means out of memory. Several threads may call it at once. It must not
   * exit the process or let a C++ exception escape. */
  char* (*call)(const char* operation, const char* request);

  /* Frees what call() returned; NULL is allowed. */
  void (*release)(char* reply);
};

/* The type of dtsubmit_plugin_v1. */
typedef const struct dtsubmit_plugin* (*dtsubmit_plugin_entry)(void);

#ifdef __cplusplus
}
#endif
#endif
