// SPDX-License-Identifier: Apache-2.0
#include "core/train/data/read_ahead.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace dts::train {

void read_ahead(const Samples& samples, std::uint64_t index) {
  const Tokens& tokens = samples.tokens;
  if (tokens.data == nullptr) return;
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto context = static_cast<std::size_t>(samples.context);
  const auto width = static_cast<std::size_t>(tokens.width);
  const auto begin = reinterpret_cast<std::uintptr_t>(tokens.data) + index * context * width;
  const std::uintptr_t from = begin / page * page;
  // This is only advice: if the kernel ignores it, the sample is read when it is needed.
  (void)::posix_madvise(
      reinterpret_cast<void*>(from), begin + (context + 1) * width - from, POSIX_MADV_WILLNEED);
}

}  // namespace dts::train
