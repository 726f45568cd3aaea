// SPDX-License-Identifier: Apache-2.0
// The files to which a program's output goes. dtsubmit keeps the output of each rank in the run
// directory instead. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string>

namespace dts::convert {

// As they are written, without quotes: "$OUT/train.log", of > and tee.
[[nodiscard]] Names outputs_of(const Item& item);

// `prog | tee LOG`, prog > LOG or prog alone: its output goes nowhere else.
[[nodiscard]] bool only_keeps_output(const shell::Pipeline& pipeline);

// It has a tee or a redirection.
[[nodiscard]] bool keeps_output(const shell::Pipeline& pipeline);

// The first of the files that the item reads; empty: none.
[[nodiscard]] std::string read_by(const Item& item, const Names& files);

}  // namespace dts::convert
