/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in for the host's tests; macros make the broken ones. In C, so that the header stays C. */
#include "core/plugin/dtsubmit_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FIXTURE_ABI
#define FIXTURE_ABI DTSUBMIT_PLUGIN_ABI
#endif
#ifndef FIXTURE_KIND
#define FIXTURE_KIND DTSUBMIT_PLUGIN_SCHEDULER
#endif
#ifndef FIXTURE_SIZE
#define FIXTURE_SIZE sizeof(struct dtsubmit_plugin)
#endif

static char* text_of(const char* before, const char* middle, const char* after) {
  const size_t size = strlen(before) + strlen(middle) + strlen(after) + 1;
  char* text = malloc(size);
  if (text != NULL) snprintf(text, size, "%s%s%s", before, middle, after);
  return text;
}

/* The request comes back in a place where a test can look at it. */
static char* call(const char* operation, const char* request) {
  if (strcmp(operation, "none") == 0) return NULL;
  if (strcmp(operation, "garbage") == 0) return text_of("not ", "JSON", "");
  if (strcmp(operation, "neither") == 0) return text_of("{\"answer\": ", "1", "}");
  if (strcmp(operation, "fail") == 0) return text_of("{\"error\": ", request, "}");
  if (strcmp(operation, "open") == 0) return text_of("{\"result\": ", "{}", "}");
#ifdef FIXTURE_OTHER_RELEASE
  if (strcmp(operation, "version") != 0)
    return text_of("{\"error\": {\"code\": \"unreachable\", \"message\": \"another release\", ",
                   "\"hint\": \"\", \"other_release\": true}",
                   "}");
#endif
  if (strcmp(operation, "job") == 0)
    return text_of("{\"result\": {\"id\": \"7\", \"state\": \"timed_out\", \"completing\": true,",
                   "\"restart_count\": 3, \"preempt_time\": 5, \"exit_code\": \"no number\",",
                   "\"unheard_of\": []}}");
  if (strcmp(operation, "submit") == 0) {
    FILE* file = fopen(getenv("FIXTURE_REQUEST"), "w");
    if (file != NULL) {
      fputs(request, file);
      fclose(file);
    }
    return text_of("{\"result\": {\"id\": \"", "42", "\"}}");
  }
  return text_of("{\"result\": ", request, "}");
}

static void release(char* reply) {
  free(reply);
}

#ifndef FIXTURE_WITHOUT_SYMBOL
DTSUBMIT_PLUGIN_EXPORT const struct dtsubmit_plugin* dtsubmit_plugin_v1(void) {
  static const struct dtsubmit_plugin plugin = {
      .abi_version = FIXTURE_ABI,
      .struct_size = FIXTURE_SIZE,
      .kind = FIXTURE_KIND,
      .name = FIXTURE_NAME,
      .version = "1",
      .description = "for the tests of the host",
      .call = call,
      .release = release,
  };
#ifdef FIXTURE_NEEDS
  extern int fixture_absent(void);
  (void)fixture_absent();
#endif
  return &plugin;
}
#else
char* (*const unused_call)(const char*, const char*) = call;
void (*const unused_release)(char*) = release;
#endif
