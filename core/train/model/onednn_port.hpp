// SPDX-License-Identifier: Apache-2.0
// Our arrays as operands of oneDNN's primitives. Not thread-safe.
//
// When a primitive is created, oneDNN takes its number of threads from the calling thread's OpenMP
// setting. Network sets that to one, so that results do not depend on the number of threads
// (otherwise the gradient of the weights was found to).
#pragma once

#include "core/train/device/instruction_set.hpp"
#include "core/train/device/kernels.hpp"
#include "core/train/model/onednn.hpp"

#include <optional>
#include <utility>

namespace dts::train {

[[nodiscard]] inline dnnl::memory::data_type type_of(Precision precision) {
  return precision == Precision::bf16 ? dnnl::memory::data_type::bf16
                                      : dnnl::memory::data_type::f32;
}

inline dnnl::memory::desc float_desc(dnnl::memory::dims dims, dnnl::memory::format_tag tag) {
  return {std::move(dims), dnnl::memory::data_type::f32, tag};
}

// One of our arrays as an operand that a primitive expects: the array itself, or a copy that is
// rounded to bf16 or has another layout.
class Port {
 public:
  // `data` is fp32 even if `ours` is bf16; then the port can only be pulled.
  Port(const dnnl::memory::desc& ours, const dnnl::memory::desc& wanted, float* data)
      : is_rounded_(type_of(ours) == dnnl::memory::data_type::bf16),
        data_(data),
        ours_(is_rounded_ ? dnnl::memory(ours, cpu()) : dnnl::memory(ours, cpu(), data)),
        wanted_(ours == wanted ? ours_ : dnnl::memory(wanted, cpu())) {
    if (ours == wanted) return;
    import_.emplace(ours_, wanted_);
    export_.emplace(wanted_, ours_);
  }

  void pull(dnnl::stream& stream) {
    if (is_rounded_)
      round_to_bf16(data_,
                    ours_.get_desc().get_size() / sizeof(Bf16),
                    static_cast<Bf16*>(ours_.get_data_handle()));
    if (import_) import_->execute(stream, ours_, wanted_);
  }

  void push(dnnl::stream& stream) {
    if (export_) export_->execute(stream, wanted_, ours_);
  }

  // For arrays that differ between calls. const_cast because oneDNN's handles are not const.
  void point_to(const float* data) {
    data_ = data;
    if (!is_rounded_) ours_.set_data_handle(const_cast<float*>(data));  // NOLINT
  }

  [[nodiscard]] dnnl::memory& get() { return wanted_; }

 private:
  bool is_rounded_;
  const float* data_;
  dnnl::memory ours_;
  dnnl::memory wanted_;  // the same as ours_ if the layouts agree
  std::optional<dnnl::reorder> import_;
  std::optional<dnnl::reorder> export_;
};

}  // namespace dts::train
