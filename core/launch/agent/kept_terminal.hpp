// SPDX-License-Identifier: Apache-2.0
// Standard error as it was at the start of an agent, whose attempts log to their own folders: a
// terminal or the job's log.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/os/log.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace dts::launch {

class KeptTerminal {
 public:
  // Call it before the first attempt. From then on, log() writes there, too.
  void keep() {
    kept_.reset(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    set_second_log(kept_.get());
  }

  // Makes it standard error again.
  void restore() const { ::dup2(kept_.get(), STDERR_FILENO); }

 private:
  UniqueFd kept_;
};

}  // namespace dts::launch
