// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_trial.hpp"

#include <algorithm>
#include <cstring>

namespace recording_device {
namespace {

using dts::train::accelerator::Access;
using Image = std::map<std::byte*, std::vector<std::byte>>;

Image image(const Memory& memory) {
  Image made;
  for (const auto& [at, bytes] : memory) made[at].assign(at, at + bytes);
  return made;
}

void put(const Image& image) {
  for (const auto& [at, bytes] : image) std::memcpy(at, bytes.data(), bytes.size());
}

// Where an access is in an image; nullptr if it is in no memory of the device.
std::byte* find(Image& image, const Access& access) {
  auto* const at = const_cast<std::byte*>(static_cast<const std::byte*>(access.at));
  auto found = image.upper_bound(at);
  if (found == image.begin()) return nullptr;
  --found;
  const auto offset = static_cast<std::size_t>(at - found->first);
  return offset + access.bytes > found->second.size() ? nullptr : found->second.data() + offset;
}

// What is accessed, or of that what is written.
void copy(const std::vector<Access>& all, Image& from, Image& to, bool written) {
  for (const Access& one : all)
    if (one.writes || !written)
      if (std::byte* const at = find(from, one)) std::memcpy(find(to, one), at, one.bytes);
}

}  // namespace

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
  if (expected != after) strays.push_back(what + " writes elsewhere");
  for (auto& [at, bytes] : expected) std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
  copy(all, before, expected, false);
  put(expected);
  if (const char* const wrong = run()) return wrong;
  Image again = image(memory);
  copy(all, again, expected = after, true);
  if (expected != after) strays.push_back(what + " reads elsewhere");
  put(after);
  return nullptr;
}

}  // namespace recording_device
