// SPDX-License-Identifier: Apache-2.0
// Which file owners can be trusted if this process does not see every owner's real id.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

namespace dts {

// How a process sees the owners of files. In a user namespace that maps only one user, as on the
// nodes of a plain user's private cluster, the files of all other users, including root, appear to
// belong to one id: the kernel's overflow user (user_namespaces(7)).
struct OwnerView {
  uid_t self = 0;                   // the effective uid
  std::optional<uid_t> stranger{};  // the id shown for all users without a mapping, including root

  // True if the owner is certainly the user or root.
  [[nodiscard]] bool is_trusted(uid_t owner) const { return owner == 0 || owner == self; }

  // True if the owner is root or another unmapped user; which one is unknown.
  [[nodiscard]] bool is_unknown(uid_t owner) const {
    return !is_trusted(owner) && owner == stranger;
  }
};

// `uid_map` and `overflow_uid`: the texts of /proc/self/uid_map and /proc/sys/kernel/overflowuid.
// There is no stranger if root is mapped (as in the initial namespace), if the overflow user is an
// ordinary user, or if a text cannot be parsed. Pure.
[[nodiscard]] OwnerView owner_view(uid_t self,
                                   std::string_view uid_map,
                                   std::string_view overflow_uid);

// This process's current view. Thread-safe.
[[nodiscard]] OwnerView owner_view();

}  // namespace dts
