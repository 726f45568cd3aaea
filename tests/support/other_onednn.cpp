// SPDX-License-Identifier: Apache-2.0
// Preloaded into one rank, which then reports another release of oneDNN.
#include <oneapi/dnnl/dnnl.h>

extern "C" __attribute__((visibility("default"))) const dnnl_version_t* dnnl_version() {
  static dnnl_version_t other{};
  other.major = 9;
  other.minor = 8;
  other.patch = 7;
  other.hash = "another";
  return &other;
}
