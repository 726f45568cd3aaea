// SPDX-License-Identifier: Apache-2.0
// The files to which a program's output goes. dtsubmit keeps the output of each rank in the run
// directory instead. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string>
#include <string_view>

namespace dts::convert {

inline constexpr const char* k_read_later =
    ", the file of its output, is read by a later line; the ranks' output is in the run directory";

// As they are written, without quotes: "$OUT/train.log", of > and tee.
[[nodiscard]] Names outputs_of(const Item& item);

// `prog | tee LOG`, prog > LOG or prog alone: its output goes nowhere else.
[[nodiscard]] bool only_keeps_output(const shell::Pipeline& pipeline);

// It has a redirection, or commands behind a |: of one that only_keeps_output(), a tee.
[[nodiscard]] bool redirects_output(const shell::Pipeline& pipeline);

// The file to which the pipeline's output goes and that a statement behind `end` may read, by its
// name or a variable; empty: none. `text`: of the pipeline's script, which eval runs.
[[nodiscard]] std::string output_read_behind(const shell::Pipeline& pipeline,
                                             std::string_view text,
                                             const lint::Subject& subject,
                                             std::size_t end);

// The first of the files that the item reads; empty: none.
[[nodiscard]] std::string read_by(const Item& item, const Names& files);

}  // namespace dts::convert
