// SPDX-License-Identifier: Apache-2.0
// Whose files are to be believed, where this process does not see every owner as he is.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

namespace dts {

// How a process sees the owners of files. In a user namespace that maps one user only, as the nodes
// of a plain user's private cluster are, everybody else's files, root's too, belong to one number:
// the kernel's overflow user (user_namespaces(7)).
struct OwnerView {
  uid_t self = 0;                   // effective
  std::optional<uid_t> stranger{};  // whom all who have no number here look like, root among them

  // The user's own or root's, beyond doubt.
  [[nodiscard]] bool is_trusted(uid_t owner) const { return owner == 0 || owner == self; }

  // Root's or anybody else's who is not mapped: the true owner cannot be told.
  [[nodiscard]] bool is_unknown(uid_t owner) const {
    return !is_trusted(owner) && owner == stranger;
  }
};

// `uid_map` and `overflow_uid`: the texts of /proc/self/uid_map and /proc/sys/kernel/overflowuid.
// There is no stranger where root has a number (the first namespace is such), where the overflow
// user is a user like others, and where a text is not understood. Pure.
[[nodiscard]] OwnerView owner_view(uid_t self,
                                   std::string_view uid_map,
                                   std::string_view overflow_uid);

// Of this process, now. Thread-safe.
[[nodiscard]] OwnerView owner_view();

}  // namespace dts
