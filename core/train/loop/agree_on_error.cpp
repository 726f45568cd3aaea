// SPDX-License-Identifier: Apache-2.0
#include "core/train/loop/agree_on_error.hpp"

#include "core/train/telemetry/report.hpp"

namespace dts::train {

int agree_on_error(Comm& comm, const Result<void>& mine, std::optional<int> code) {
  const Verdict verdict = comm.agree(mine ? 0 : code.value_or(exit_code(mine.error().code)));
  if (verdict.code != 0 && verdict.rank == comm.rank() && !mine.error().message.empty())
    print_error(mine.error(), comm.size() > 1 ? comm.rank() : -1);
  return verdict.code;
}

}  // namespace dts::train
