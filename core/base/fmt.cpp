// SPDX-License-Identifier: Apache-2.0
// fmt's compiled part, like fmt's own src/format.cc: Debian has it only as a shared library, which
// would pull in libstdc++.so and cost half a millisecond at every start of a rank.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE

namespace detail {
template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template locale_ref::locale_ref(const std::locale&);
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void buffer<char>::append(const char*, const char*);
#if FMT_VERSION < 110100  // no template since then
template void vformat_to(buffer<char>&,
                         string_view,
                         basic_format_args<buffer_context<char>>,
                         locale_ref);
#endif
}  // namespace detail

FMT_END_NAMESPACE
