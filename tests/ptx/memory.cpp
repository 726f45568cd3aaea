// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/memory.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ptx {
namespace {

std::string name_of(int number) {
  return number == -1 ? "several" : std::to_string(number);
}

void check(const Access* other) {
  if (other != nullptr)
    throw std::runtime_error("a data race with block " + name_of(other->block) + ", warp " +
                             name_of(other->warp) + ", thread " + name_of(other->thread));
}

}  // namespace

Memory::Memory(const Launch& launch, std::size_t shared_bytes)
    : launch_(launch), shared_(shared_bytes) {}

void Memory::begin_block() {
  std::fill(shared_.begin(), shared_.end(), std::byte{0xff});
  of_shared_ = {};
}

std::byte* Memory::place(Space space, std::uint64_t at, int bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  if (at % size != 0)
    throw std::runtime_error("an address is not aligned to " + std::to_string(bytes) + " bytes");
  if (space == Space::global) {
    if (!launch_.is_allocated(at, size))
      throw std::runtime_error("an address is outside of all allocations");
    return reinterpret_cast<std::byte*>(at);
  }
  if (space == Space::shared) {
    if (at < k_shared_begin || at - k_shared_begin + size > shared_.size())
      throw std::runtime_error("an address is outside of shared memory");
    return shared_.data() + (at - k_shared_begin);
  }
  if (at + size > launch_.argument_bytes)
    throw std::runtime_error("an address is outside of the parameters");
  // They are only read.
  return const_cast<std::byte*>(static_cast<const std::byte*>(launch_.arguments)) + at;
}

const std::byte* Memory::read(Space space, std::uint64_t at, int bytes, const Access& now) {
  const std::byte* const found = place(space, at, bytes);
  if (space != Space::parameters)
    check(accesses(space).read(at, static_cast<std::size_t>(bytes), now));
  return found;
}

std::byte* Memory::write(Space space, std::uint64_t at, int bytes, const Access& now) {
  if (space == Space::parameters) throw std::runtime_error("parameters cannot be written");
  std::byte* const found = place(space, at, bytes);
  check(accesses(space).write(at, static_cast<std::size_t>(bytes), now));
  return found;
}

}  // namespace ptx
