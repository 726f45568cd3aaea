// SPDX-License-Identifier: Apache-2.0
#include "core/base/result.hpp"

#include "core/base/exit_codes.hpp"

#include <cerrno>
#include <cstring>

namespace dts {

int exit_code(Errc code) {
  switch (code) {
    case Errc::usage:
      return 2;
    case Errc::invalid:
      return k_wrong;
    case Errc::unreachable:
      return 4;
    case Errc::rejected:
      return 5;
    case Errc::not_found:
      return 6;
    case Errc::io:
    case Errc::timed_out:
      return 74;
    case Errc::internal:
      return 70;
    case Errc::interrupted:
      return 130;
  }
  return 70;
}

tl::unexpected<Error> fail_errno(const std::string& message, std::string hint) {
  const int number = errno;
  const bool no_space = number == ENOSPC || number == EDQUOT;
  if (hint.empty() && no_space) hint = "free space there or choose another folder";
  auto failed = fail(number == ENOENT ? Errc::not_found : Errc::io,
                     message + ": " + std::strerror(number),
                     std::move(hint));
  failed.value().no_space = no_space;
  return failed;
}

}  // namespace dts
