// SPDX-License-Identifier: Apache-2.0
// The blocks of residual networks, as blocks.hpp describes blocks. Images are blocked
// (kernels.hpp).
//
// The activations of a residual stream share one gradient buffer, as in token_blocks.hpp.
#pragma once

#include "core/train/model/blocks.hpp"

#include <memory>
#include <string>

namespace dts::train {

// out = relu(batch norm(in) + residual); `residual` may be nullptr. After its backward pass,
// out.gradient is the gradient before the ReLU, which is also the gradient of the residual.
[[nodiscard]] std::unique_ptr<Block> bn_relu(const Layout& layout,
                                             const std::string& name,
                                             const Images& shape,
                                             Edge in,
                                             Edge out,
                                             const float* residual = nullptr);

// For a stream that two blocks read: its backward pass adds `branch`, the gradient from one of
// them, to in.gradient, the gradient from the other.
[[nodiscard]] std::unique_ptr<Block> gradient_sum(std::size_t count, Edge in, const float* branch);

// The shortcut into a stage with twice the channels and half the height and width: takes every
// second pixel of every second row, and puts zeros in the new channels, half of them before and
// half after the old ones (K. He et al., 2015, section 4.2, option A). Its backward pass adds to
// in.gradient.
[[nodiscard]] std::unique_ptr<Block> narrowing_shortcut(const Images& in_shape, Edge in, Edge out);

// The mean over the pixels of each channel: [batch][channels].
[[nodiscard]] std::unique_ptr<Block> average_pool(const Images& in_shape, Edge in, Edge out);

}  // namespace dts::train
