// SPDX-License-Identifier: Apache-2.0
// Whether this is a build with AddressSanitizer, by GCC or clang, in which everything takes ten
// times as long.
#pragma once

namespace dts::tests {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool k_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool k_sanitized = true;
#else
inline constexpr bool k_sanitized = false;
#endif
#else
inline constexpr bool k_sanitized = false;
#endif

}  // namespace dts::tests
