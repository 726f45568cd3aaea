// SPDX-License-Identifier: Apache-2.0
#include "core/base/hash.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#define XXH_INLINE_ALL  // saves loading a shared library at every start
#include <xxhash.h>

#include <cstdlib>
#include <vector>

namespace dts {

std::uint64_t hash64(const void* data, std::size_t bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

struct Hash64::State {
  XXH3_state_t xxh3;
};

void Hash64::Free::operator()(State* state) const {
  delete state;
}

Hash64::Hash64() : state_(new State) {
  XXH3_64bits_reset(&state_->xxh3);
}

void Hash64::add(const void* data, std::size_t bytes) {
  XXH3_64bits_update(&state_->xxh3, data, bytes);
}

std::uint64_t Hash64::value() const {
  return XXH3_64bits_digest(&state_->xxh3);
}

std::string to_hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

std::string random_hex(std::size_t bytes) {
  std::vector<unsigned char> block(bytes);
  // Requests of up to 256 bytes are never cut short once the pool is initialised (getrandom(2)).
  if (bytes > 256 || ::getrandom(block.data(), bytes, 0) != static_cast<ssize_t>(bytes))
    std::abort();
  std::string text;
  for (const unsigned char byte : block) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace dts
