// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/layout/services.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace dts::cluster;

Layout layout_with(Auth auth, bool accounting) {
  Layout layout;
  layout.spec.name = "lab";
  layout.spec.folder = "/var/lab";
  layout.spec.auth = auth;
  layout.spec.accounting = accounting;
  layout.endpoints = {5, 6, 21000, accounting};
  layout.user = "ada";
  return layout;
}

bool has_row(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("without services every user of the machine is trusted, and nothing is accounted") {
  const Layout layout = layout_with(Auth::none, false);
  const std::string text = render_slurm_conf(layout);
  for (const char* line : {"AuthType=auth/none",
                           "CredType=cred/none",
                           "AuthInfo=cred_expire=5",
                           "AccountingStorageType=accounting_storage/none"})
    CHECK(has_row(text, line));
  CHECK(render_accounting_conf(layout).empty());
}

TEST_CASE(
    "with munge, daemons and clients are led to the cluster's own socket by slurm.conf alone") {
  const std::string text = render_slurm_conf(layout_with(Auth::munge, true));
  for (const char* line : {"AuthType=auth/munge",
                           "CredType=cred/munge",
                           "AuthInfo=cred_expire=5,socket=/var/lab/run/munge.socket",
                           "AccountingStoragePass=/var/lab/run/munge.socket"})
    CHECK(has_row(text, line));
  CHECK(render_slurm_conf(layout_with(Auth::munge, false)).find("StoragePass") ==
        std::string::npos);
}

TEST_CASE(
    "slurmdbd listens on the controller's address, where slurmctld's connections come from, on the "
    "last port of the cluster's block") {
  const Layout layout = layout_with(Auth::munge, true);
  const std::string slurm = render_slurm_conf(layout);
  CHECK(has_row(slurm, "AccountingStorageHost=127.0.0.1"));
  CHECK(has_row(slurm, "SlurmctldHost=localhost(127.0.0.1)"));
  CHECK(has_row(slurm, "AccountingStoragePort=21065"));
  CHECK(has_row(slurm, "AccountingStorageTRES=gres/gpu"));
  const std::string text = render_accounting_conf(layout);
  for (const char* line : {"DbdPort=21065",
                           "AuthType=auth/munge",
                           "AuthInfo=socket=/var/lab/run/munge.socket",
                           "CommunicationParameters=NoInAddrAny",
                           "SlurmUser=ada"})
    CHECK(has_row(text, line));
}

TEST_CASE("a kind of authentication is read back from its name") {
  for (const Auth auth : {Auth::none, Auth::munge}) CHECK(auth_of(to_string(auth)) == auth);
  CHECK(auth_of("kerberos") == Auth::none);
}
