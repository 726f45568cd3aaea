// SPDX-License-Identifier: Apache-2.0
// The host's device as a module.
#include "tests/support/host_device.hpp"

DTTRAIN_DEVICE_EXPORT const dttrain_device* dttrain_device_v1() {
  return host_device::table_of_module();
}
