// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions, by oneDNN.
#include "core/train/model/blocks.hpp"
#include "core/train/model/onednn_port.hpp"

namespace dts::train {
namespace {

struct ConvolutionDescs {
  dnnl::memory::desc src;
  dnnl::memory::desc weights;
  dnnl::memory::desc dst;
  dnnl::memory::dims strides;
  dnnl::memory::dims padding{1, 1};
};

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;
constexpr auto k_direct = dnnl::algorithm::convolution_direct;

dnnl::memory::dims dims_of(const Images& images) {
  return {images.batch, images.channels, images.height, images.width};
}

// Types of the operands; results are always fp32.
struct Types {
  dnnl::memory::data_type src;
  dnnl::memory::data_type weights;
  dnnl::memory::data_type dst;
};

constexpr auto k_fp32 = dnnl::memory::data_type::f32;

Types of_forward(Precision precision) {
  return {type_of(precision), type_of(precision), k_fp32};
}

Types of_input_gradient(Precision precision) {
  return {k_fp32, type_of(precision), type_of(precision)};
}

Types of_weights_gradient(Precision precision) {
  return {type_of(precision), k_fp32, type_of(precision)};
}

// In the layouts of our arrays.
ConvolutionDescs descs_of(const ConvolutionShape& shape, const Types& types) {
  using Tag = dnnl::memory::format_tag;
  const bool is_blocked = shape.in.channels % k_lanes == 0;
  return {{dims_of(shape.in), types.src, is_blocked ? Tag::nChw16c : Tag::nchw},
          {{shape.out_channels, shape.in.channels, 3, 3}, types.weights, Tag::oihw},
          {dims_of(shape.out()), types.dst, Tag::nChw16c},
          {shape.stride, shape.stride}};
}

// In the layouts that oneDNN prefers.
ConvolutionDescs any(const ConvolutionShape& shape, const Types& types) {
  constexpr auto k_any = dnnl::memory::format_tag::any;
  return {{dims_of(shape.in), types.src, k_any},
          {{shape.out_channels, shape.in.channels, 3, 3}, types.weights, k_any},
          {dims_of(shape.out()), types.dst, k_any},
          {shape.stride, shape.stride}};
}

Forward::primitive_desc forward_desc(const ConvolutionDescs& d) {
  return forward_primitive<Forward>({},
                                    dnnl::prop_kind::forward_training,
                                    k_direct,
                                    d.src,
                                    d.weights,
                                    d.dst,
                                    d.strides,
                                    d.padding,
                                    d.padding);
}

template <class Backward>
typename Backward::primitive_desc backward_desc(const ConvolutionDescs& d,
                                                const Forward::primitive_desc& forward) {
  return backward_primitive<Backward>(
      forward, k_direct, d.src, d.weights, d.dst, d.strides, d.padding, d.padding);
}

// Computes the gradient of the input.
class InputGradient {
 public:
  InputGradient(const ConvolutionDescs& ours,
                const BackwardData::primitive_desc& pd,
                Edge in,
                Edge out)
      : backward_(pd),
        w_(ours.weights, pd.weights_desc(), nullptr),
        d_y_(ours.dst, pd.diff_dst_desc(), out.gradient),
        d_x_(ours.src, pd.diff_src_desc(), in.gradient) {}

  void prepare(dnnl::stream& stream, const float* weights) {
    w_.point_to(weights);
    w_.pull(stream);
  }

  void backward(dnnl::stream& stream) {
    d_y_.pull(stream);
    backward_.execute(stream,
                      {{DNNL_ARG_DIFF_DST, d_y_.get()},
                       {DNNL_ARG_WEIGHTS, w_.get()},
                       {DNNL_ARG_DIFF_SRC, d_x_.get()}});
    d_x_.push(stream);
  }

 private:
  BackwardData backward_;
  Port w_;
  Port d_y_;
  Port d_x_;
};

class Convolution : public Block {
 public:
  Convolution(Range weight, const ConvolutionShape& shape, Edge in, Edge out)
      : Convolution(weight,
                    shape,
                    descs_of(shape, of_forward(shape.precision)),
                    descs_of(shape, of_weights_gradient(shape.precision)),
                    in,
                    out) {
    if (in.gradient == nullptr) return;
    const Types types = of_input_gradient(shape.precision);
    input_.emplace(descs_of(shape, types),
                   backward_desc<BackwardData>(any(shape, types), forward_pd_),
                   in,
                   out);
  }

  void prepare(const float* weights) override {
    w_.point_to(weights + range_.begin);
    w_.pull(stream_);
    if (input_) input_->prepare(stream_, weights + range_.begin);
  }

  void forward(const Pass& /*pass*/) override {
    x_.pull(stream_);
    forward_.execute(
        stream_,
        {{DNNL_ARG_SRC, x_.get()}, {DNNL_ARG_WEIGHTS, w_.get()}, {DNNL_ARG_DST, y_.get()}});
    y_.push(stream_);
  }

  void backward(const Pass& pass) override {
    x_for_weights_.pull(stream_);
    d_y_.pull(stream_);
    d_w_.point_to(pass.sums + range_.begin);
    backward_weights_.execute(stream_,
                              {{DNNL_ARG_SRC, x_for_weights_.get()},
                               {DNNL_ARG_DIFF_DST, d_y_.get()},
                               {DNNL_ARG_DIFF_WEIGHTS, d_w_.get()}});
    d_w_.push(stream_);
    if (input_) input_->backward(stream_);
  }

  [[nodiscard]] Range completes() const override { return range_; }

 private:
  Convolution(Range weight,
              const ConvolutionShape& shape,
              const ConvolutionDescs& forward,
              const ConvolutionDescs& backward,
              Edge in,
              Edge out)
      : range_(weight),
        stream_(cpu()),
        forward_pd_(forward_desc(any(shape, of_forward(shape.precision)))),
        weights_pd_(backward_desc<BackwardWeights>(any(shape, of_weights_gradient(shape.precision)),
                                                   forward_pd_)),
        forward_(forward_pd_),
        backward_weights_(weights_pd_),
        x_(forward.src, forward_pd_.src_desc(), in.value),
        w_(forward.weights, forward_pd_.weights_desc(), nullptr),
        y_(forward.dst, forward_pd_.dst_desc(), out.value),
        x_for_weights_(backward.src, weights_pd_.src_desc(), in.value),
        d_y_(backward.dst, weights_pd_.diff_dst_desc(), out.gradient),
        d_w_(backward.weights, weights_pd_.diff_weights_desc(), nullptr) {}

  Range range_;
  dnnl::stream stream_;
  Forward::primitive_desc forward_pd_;
  BackwardWeights::primitive_desc weights_pd_;
  Forward forward_;
  BackwardWeights backward_weights_;
  Port x_;
  Port w_;
  Port y_;
  Port x_for_weights_;
  Port d_y_;
  Port d_w_;
  std::optional<InputGradient> input_;
};

}  // namespace

std::unique_ptr<Block> convolution(const Layout& layout,
                                   const std::string& name,
                                   const ConvolutionShape& shape,
                                   Edge in,
                                   Edge out) {
  return std::make_unique<Convolution>(
      layout.range(name + ".weight", name + ".weight"), shape, in, out);
}

}  // namespace dts::train
