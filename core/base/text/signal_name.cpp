// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/signal_name.hpp"

#include <csignal>

namespace dts {

const char* signal_name(int signal) {
  switch (signal) {
#define DTS_SIGNAL(name) \
  case SIG##name:        \
    return #name;
    DTS_SIGNAL(HUP)
    DTS_SIGNAL(INT)
    DTS_SIGNAL(QUIT)
    DTS_SIGNAL(ILL)
    DTS_SIGNAL(TRAP)
    DTS_SIGNAL(ABRT)
    DTS_SIGNAL(BUS)
    DTS_SIGNAL(FPE)
    DTS_SIGNAL(KILL)
    DTS_SIGNAL(USR1)
    DTS_SIGNAL(SEGV)
    DTS_SIGNAL(USR2)
    DTS_SIGNAL(PIPE)
    DTS_SIGNAL(ALRM)
    DTS_SIGNAL(TERM)
    DTS_SIGNAL(STKFLT)
    DTS_SIGNAL(CHLD)
    DTS_SIGNAL(CONT)
    DTS_SIGNAL(STOP)
    DTS_SIGNAL(TSTP)
    DTS_SIGNAL(TTIN)
    DTS_SIGNAL(TTOU)
    DTS_SIGNAL(URG)
    DTS_SIGNAL(XCPU)
    DTS_SIGNAL(XFSZ)
    DTS_SIGNAL(VTALRM)
    DTS_SIGNAL(PROF)
    DTS_SIGNAL(WINCH)
    DTS_SIGNAL(POLL)
    DTS_SIGNAL(PWR)
    DTS_SIGNAL(SYS)
#undef DTS_SIGNAL
    default:
      return nullptr;
  }
}

}  // namespace dts
