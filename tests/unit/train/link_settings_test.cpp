// SPDX-License-Identifier: Apache-2.0
// The settings in NCCL's configuration files, as NCCL reads them.
#include "core/train/accelerator/exchange/link_settings.hpp"

#include <doctest/doctest.h>

using namespace dts::train::accelerator;

TEST_CASE("a configuration file of NCCL adds what is not set yet, its first lines first") {
  LinkSettings settings{{"NCCL_ALGO", "Ring"}};
  add_file_settings(
      "# NCCL_PROTO=LL\nNCCL_ALGO=Tree\nNCCL_DEBUG=WARN\nNCCL_DEBUG=INFO\nno value\n\n=\nPATH=/x\n"
      "NCCL_HOSTID=here\nNCCL_IB_HCA= =mlx5_0\nNCCL_EMPTY=",
      settings);
  CHECK(settings == LinkSettings{{"NCCL_ALGO", "Ring"},
                                 {"NCCL_DEBUG", "WARN"},
                                 {"NCCL_IB_HCA", " =mlx5_0"},
                                 {"NCCL_EMPTY", ""}});
}

TEST_CASE(
    "a name that blanks precede is none of NCCL's, and a file that says nothing adds nothing") {
  LinkSettings settings;
  add_file_settings("", settings);
  add_file_settings(" NCCL_ALGO=Ring", settings);
  CHECK(settings.empty());
}
