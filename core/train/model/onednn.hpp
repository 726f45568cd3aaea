// SPDX-License-Identifier: Apache-2.0
// The differences between the interfaces of oneDNN 2 and 3, which the compiler tells apart.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <utility>

namespace dts::train {

// The only engine: the CPU.
inline const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// oneDNN 2 takes a description of the operation and an engine; oneDNN 3 takes the engine and the
// members of that description. Throws dnnl::error.
template <class Primitive, class... Operation>
[[nodiscard]] typename Primitive::primitive_desc forward_primitive(
    const dnnl::primitive_attr& attributes, Operation&&... operation) {
  if constexpr (requires { typename Primitive::desc; })
    return {{std::forward<Operation>(operation)...}, attributes, cpu()};
  else
    return {cpu(), std::forward<Operation>(operation)..., attributes};
}

// Like forward_primitive(); a backward primitive needs the description of its `forward` one.
template <class Primitive, class Forward, class... Operation>
[[nodiscard]] typename Primitive::primitive_desc backward_primitive(const Forward& forward,
                                                                    Operation&&... operation) {
  if constexpr (requires { typename Primitive::desc; })
    return {{std::forward<Operation>(operation)...}, cpu(), forward};
  else
    return {cpu(), std::forward<Operation>(operation)..., forward};
}

// oneDNN 3 renamed this function.
template <class Desc>
[[nodiscard]] dnnl::memory::data_type type_of(const Desc& desc) {
  if constexpr (requires { desc.data_type(); })
    return desc.data_type();
  else
    return desc.get_data_type();
}

// Appends a ReLU to a primitive. It has no scale since oneDNN 3.
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
