// SPDX-License-Identifier: Apache-2.0
// Files of tokens: whatever the bytes, a view within them or an error.
#include "core/train/data/token_file.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;
using namespace dts::train;

DTS_FUZZ_TARGET(input) {
  const auto* const begin = reinterpret_cast<const std::byte*>(input.data());
  for (const int width : {1, 2, 4}) {
    const auto tokens = parse_tokens(input, width);
    if (!tokens) continue;
    must(tokens->width == 1 || tokens->width == 2 || tokens->width == 4);
    must(tokens->data >= begin);
    const std::size_t bytes = tokens->count * static_cast<std::size_t>(tokens->width);
    must(static_cast<std::size_t>(tokens->data - begin) + bytes == input.size());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < tokens->count; ++i) sum += tokens->at(i);
    must(tokens->width != 1 || sum <= 255 * tokens->count);
  }
}
