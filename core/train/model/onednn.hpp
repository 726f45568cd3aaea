// SPDX-License-Identifier: Apache-2.0
// What oneDNN 2 and 3 spell differently. Which of them it is, is asked of the compiler.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <utility>

namespace dts::train {

// The only engine: the CPU.
inline const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// oneDNN 2 takes an operation's description and an engine, oneDNN 3 the engine and what was in the
// description. Throws dnnl::error.
template <class Primitive, class... Operation>
[[nodiscard]] typename Primitive::primitive_desc forward_primitive(
    const dnnl::primitive_attr& attributes, Operation&&... operation) {
  if constexpr (requires { typename Primitive::desc; })
    return {{std::forward<Operation>(operation)...}, attributes, cpu()};
  else
    return {cpu(), std::forward<Operation>(operation)..., attributes};
}

// As forward_primitive(); `forward` tells a backward primitive what it belongs to.
template <class Primitive, class Forward, class... Operation>
[[nodiscard]] typename Primitive::primitive_desc backward_primitive(const Forward& forward,
                                                                    Operation&&... operation) {
  if constexpr (requires { typename Primitive::desc; })
    return {{std::forward<Operation>(operation)...}, cpu(), forward};
  else
    return {cpu(), std::forward<Operation>(operation)..., forward};
}

// oneDNN 3 has renamed it.
template <class Desc>
[[nodiscard]] dnnl::memory::data_type type_of(const Desc& desc) {
  if constexpr (requires { desc.data_type(); })
    return desc.data_type();
  else
    return desc.get_data_type();
}

// ReLU after a primitive. Since oneDNN 3 it has no scale.
template <class PostOps = dnnl::post_ops>
[[nodiscard]] dnnl::primitive_attr followed_by_relu() {
  PostOps after;
  if constexpr (requires { after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F); })
    after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  else
    after.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  return attributes;
}

}  // namespace dts::train
