// SPDX-License-Identifier: Apache-2.0
// Setters of options whose text has several values, like those in option_values.hpp. Pure,
// thread-safe.
#pragma once

#include "core/train/options/option_values.hpp"
#include "core/train/options/options.hpp"

#include <cstdint>
#include <string>

namespace dts::train {

inline bool set_save_every(Options& o, const std::string& text) {
  o.save_every.reset();
  return text == "auto" || set_optional(o.save_every, text, 0);
}

inline bool set_slow_rank(Options& o, const std::string& text) {
  const auto colon = text.find(':');
  std::uint64_t rank = 0;
  if (colon == std::string::npos || !set_number(rank, text.substr(0, colon), 0)) return false;
  o.slow_rank = rank;
  return set_number(o.slow_rank_ms, text.substr(colon + 1), 0);
}

inline bool set_betas(Options& o, const std::string& text) {
  const auto comma = text.find(',');
  return comma != std::string::npos &&
         set_real(o.optimization.beta1, text.substr(0, comma), k_below_one) &&
         set_real(o.optimization.beta2, text.substr(comma + 1), k_below_one);
}

}  // namespace dts::train
