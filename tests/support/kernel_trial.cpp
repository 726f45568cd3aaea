// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_trial.hpp"

#include "core/train/accelerator/kernels/columns.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace recording_device {
namespace {

using dts::train::accelerator::Access;
using dts::train::accelerator::Columnwise;
using Image = std::map<std::byte*, std::vector<std::byte>>;

Image image(const Memory& memory) {
  Image made;
  for (const auto& [at, bytes] : memory) made[at].assign(at, at + bytes);
  return made;
}

// By memcmp(): std::vector compares elements of std::byte one by one.
bool is_same(const Image& one, const Image& other) {
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(), [](const auto& a, const auto& b) {
        return a.first == b.first && a.second.size() == b.second.size() &&
               std::memcmp(a.second.data(), b.second.data(), a.second.size()) == 0;
      });
}

void put(const Image& image) {
  for (const auto& [at, bytes] : image) std::memcpy(at, bytes.data(), bytes.size());
}

// The address of an access in an image; nullptr if it is not in device memory.
std::byte* find(Image& image, const Access& access) {
  auto* const at = const_cast<std::byte*>(static_cast<const std::byte*>(access.at));
  auto found = image.upper_bound(at);
  if (found == image.begin()) return nullptr;
  --found;
  const auto offset = static_cast<std::size_t>(at - found->first);
  return offset + access.bytes > found->second.size() ? nullptr : found->second.data() + offset;
}

// Copies what is accessed, or, if `written`, only what is written.
void copy(const std::vector<Access>& all, Image& from, Image& to, bool written) {
  for (const Access& one : all)
    if (one.writes || !written)
      if (std::byte* const at = find(from, one)) std::memcpy(find(to, one), at, one.bytes);
}

// Adds the rows of `count` matrices.
void add_rows(std::vector<Access>& all,
              const void* values,
              std::size_t each,
              int rows,
              int columns,
              int pitch,
              std::int64_t stride,
              int count,
              bool writes) {
  for (int matrix = 0; matrix < count; ++matrix)
    for (int row = 0; row < rows; ++row) {
      const std::int64_t place = matrix * stride + std::int64_t{row} * pitch;
      all.push_back({static_cast<const std::byte*>(values) + static_cast<std::size_t>(place) * each,
                     static_cast<std::size_t>(columns) * each,
                     writes});
    }
}

void add_factor(std::vector<Access>& all,
                const dttrain_product& product,
                const dttrain_factor& factor,
                int rows,
                int columns) {
  if (factor.is_transposed != 0) std::swap(rows, columns);
  add_rows(all,
           factor.values,
           product.factors == DTTRAIN_BF16 ? sizeof(std::uint16_t) : sizeof(float),
           rows,
           columns,
           factor.pitch,
           factor.stride,
           product.count,
           false);
}

}  // namespace

std::vector<Access> accesses_of(const dttrain_product& p) {
  std::vector<Access> all;
  add_factor(all, p, p.left, p.rows, p.inner);
  add_factor(all, p, p.right, p.inner, p.columns);
  const std::size_t each = p.rounds != 0 ? sizeof(std::uint16_t) : sizeof(float);
  add_rows(all, p.out, each, p.rows, p.columns, p.pitch, p.stride, p.count, true);
  if (p.plus != nullptr && p.plus != p.out)
    add_rows(all, p.plus, each, p.rows, p.columns, p.pitch, p.stride, p.count, false);
  if (p.before != nullptr) {
    const bool writes = p.curve == DTTRAIN_GELU;
    add_rows(all, p.before, each, p.rows, p.columns, p.pitch, p.stride, p.count, writes);
  }
  if (p.bias != nullptr) add_rows(all, p.bias, each, 1, p.columns, p.columns, 0, 1, false);
  if (p.sums != nullptr) {
    const int runs = Columnwise{p.rows, p.columns, p.sum_rows}.runs();
    add_rows(all, p.sums, sizeof(float), runs, p.columns, p.columns, 0, 1, true);
  }
  return all;
}

const char* try_kernel(const std::string& what,
                       const Memory& memory,
                       const std::vector<Access>& all,
                       const std::function<const char*()>& run,
                       std::vector<std::string>& strays) {
  Image before = image(memory);
  if (const char* const wrong = run()) return wrong;
  Image after = image(memory);
  Image expected = before;
  copy(all, after, expected, true);
  if (!is_same(expected, after)) strays.push_back(what + " writes elsewhere");
  for (auto& [at, bytes] : expected) std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
  copy(all, before, expected, false);
  put(expected);
  if (const char* const wrong = run()) return wrong;
  Image again = image(memory);
  copy(all, again, expected = after, true);
  if (!is_same(expected, after)) strays.push_back(what + " reads elsewhere");
  put(after);
  return nullptr;
}

}  // namespace recording_device
