// SPDX-License-Identifier: Apache-2.0
// The words of rules for billing.
#pragma once

#include "core/base/billing.hpp"

#include <string_view>

namespace dts::sched {

// "sum", "largest", ...; billing_rule_of() returns sum for any other word.
[[nodiscard]] const char* to_string(BillingRule rule);
[[nodiscard]] BillingRule billing_rule_of(std::string_view word);

}  // namespace dts::sched
