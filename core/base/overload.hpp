// SPDX-License-Identifier: Apache-2.0
// Combines one function per type of a variant, for std::visit: Overload{[](int) {}, [](const auto&)
// {}}.
#pragma once

namespace dts {

template <class... Cases>
struct Overload : Cases... {
  using Cases::operator()...;
};

template <class... Cases>
Overload(Cases...) -> Overload<Cases...>;

}  // namespace dts
