// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/accesses.hpp"

#include <algorithm>

namespace ptx {
namespace {

// Adds an access to one that no barrier separates from it.
void merge(Access& into, const Access& now) {
  if (into.is_before(now)) {
    into = now;
    return;
  }
  if (into.block != now.block) into.block = -1;
  if (into.block == -1 || into.warp != now.warp) into.warp = -1;
  into.thread = -1;
  into.phase = std::max(into.phase, now.phase);
  into.warp_phase = std::max(into.warp_phase, now.warp_phase);
}

}  // namespace

Accesses::Cell& Accesses::cell(std::uint64_t at) {
  if (at / k_page != last_number_) {
    last_number_ = at / k_page;
    last_ = &pages_.try_emplace(last_number_, k_page / 2).first->second;
  }
  return (*last_)[at % k_page / 2];
}

const Access* Accesses::read(std::uint64_t at, std::size_t bytes, const Access& now) {
  for (std::uint64_t i = at; i < at + bytes; i += 2) {
    Cell& one = cell(i);
    if (!one.written.is_before(now)) return &one.written;
    merge(one.read, now);
  }
  return nullptr;
}

const Access* Accesses::write(std::uint64_t at, std::size_t bytes, const Access& now) {
  for (std::uint64_t i = at; i < at + bytes; i += 2) {
    Cell& one = cell(i);
    if (!one.written.is_before(now)) return &one.written;
    if (!one.read.is_before(now)) return &one.read;
    one.written = now;
  }
  return nullptr;
}

}  // namespace ptx
