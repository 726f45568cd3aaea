// SPDX-License-Identifier: Apache-2.0
// The blocks computed by oneDNN: convolution and fully connected.
//
// When a primitive is created, oneDNN takes its number of threads from the calling thread's OpenMP
// setting. Network sets that to one, so results do not depend on the number of threads (measured:
// otherwise the gradient of the weights does).
#include "core/train/model/blocks.hpp"
#include "core/train/model/gemm.hpp"
#include "core/train/model/onednn.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

namespace dts::train {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc floats(memory::dims dims, Tag tag) {
  return {std::move(dims), memory::data_type::f32, tag};
}

// One of our arrays as a primitive expects it: the array itself, or a copy in another layout.
class Port {
 public:
  Port(const memory::desc& ours, const memory::desc& wanted, float* data)
      : ours_(ours, cpu(), data), wanted_(ours == wanted ? ours_ : memory(wanted, cpu())) {
    if (ours == wanted) return;
    import_.emplace(ours_, wanted_);
    export_.emplace(wanted_, ours_);
  }

  void pull(dnnl::stream& stream) {
    if (import_) import_->execute(stream, ours_, wanted_);
  }

  void push(dnnl::stream& stream) {
    if (export_) export_->execute(stream, wanted_, ours_);
  }

  // The array changes with each call; const_cast because oneDNN's handles are not const.
  void point_to(const float* data) { ours_.set_data_handle(const_cast<float*>(data)); }  // NOLINT

  [[nodiscard]] memory& get() { return wanted_; }

 private:
  memory ours_;
  memory wanted_;  // shares ours_ if the layouts agree
  std::optional<dnnl::reorder> import_;
  std::optional<dnnl::reorder> export_;
};

struct ConvolutionDescs {
  memory::desc src;
  memory::desc weights;
  memory::desc dst;
  memory::dims ones{1, 1};
};

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;
constexpr auto k_direct = dnnl::algorithm::convolution_direct;

Forward::primitive_desc forward_desc(const ConvolutionDescs& d) {
  return forward_primitive<Forward>({},
                                    dnnl::prop_kind::forward_training,
                                    k_direct,
                                    d.src,
                                    d.weights,
                                    d.dst,
                                    d.ones,
                                    d.ones,
                                    d.ones);
}

template <class Backward>
typename Backward::primitive_desc backward_desc(const ConvolutionDescs& d,
                                                const Forward::primitive_desc& forward) {
  return backward_primitive<Backward>(
      forward, k_direct, d.src, d.weights, d.dst, d.ones, d.ones, d.ones);
}

class Convolution : public Block {
 public:
  Convolution(Range weight, const Images& in_shape, int out_channels, Edge in, Edge out)
      : range_(weight),
        weight_(weight.begin),
        stream_(cpu()),
        any_{{in_dims(in_shape, in_shape.channels), memory::data_type::f32, Tag::any},
             {weight_dims(in_shape.channels, out_channels), memory::data_type::f32, Tag::any},
             {in_dims(in_shape, out_channels), memory::data_type::f32, Tag::any}},
        src_(floats(in_dims(in_shape, in_shape.channels), Tag::nChw16c)),
        weights_(floats(weight_dims(in_shape.channels, out_channels), Tag::oihw)),
        dst_(floats(in_dims(in_shape, out_channels), Tag::nChw16c)),
        forward_pd_(forward_desc(any_)),
        data_pd_(backward_desc<BackwardData>(any_, forward_pd_)),
        weights_pd_(backward_desc<BackwardWeights>(any_, forward_pd_)),
        forward_(forward_pd_),
        backward_data_(data_pd_),
        backward_weights_(weights_pd_),
        x_(src_, forward_pd_.src_desc(), in.value),
        w_(weights_, forward_pd_.weights_desc(), nullptr),
        y_(dst_, forward_pd_.dst_desc(), out.value),
        w_for_data_(weights_, data_pd_.weights_desc(), nullptr),
        d_y_for_data_(dst_, data_pd_.diff_dst_desc(), out.gradient),
        d_x_(src_, data_pd_.diff_src_desc(), in.gradient),
        x_for_weights_(src_, weights_pd_.src_desc(), in.value),
        d_y_for_weights_(dst_, weights_pd_.diff_dst_desc(), out.gradient),
        d_w_(weights_, weights_pd_.diff_weights_desc(), nullptr) {}

  void prepare(const float* weights) override {
    w_.point_to(weights + weight_);
    w_.pull(stream_);
    w_for_data_.point_to(weights + weight_);
    w_for_data_.pull(stream_);
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
    d_y_for_weights_.pull(stream_);
    d_w_.point_to(pass.sums + weight_);
    backward_weights_.execute(stream_,
                              {{DNNL_ARG_SRC, x_for_weights_.get()},
                               {DNNL_ARG_DIFF_DST, d_y_for_weights_.get()},
                               {DNNL_ARG_DIFF_WEIGHTS, d_w_.get()}});
    d_w_.push(stream_);
    d_y_for_data_.pull(stream_);
    backward_data_.execute(stream_,
                           {{DNNL_ARG_DIFF_DST, d_y_for_data_.get()},
                            {DNNL_ARG_WEIGHTS, w_for_data_.get()},
                            {DNNL_ARG_DIFF_SRC, d_x_.get()}});
    d_x_.push(stream_);
  }

  [[nodiscard]] Range completes() const override { return range_; }

 private:
  static memory::dims in_dims(const Images& s, int channels) {
    return {s.batch, channels, s.height, s.width};
  }

  static memory::dims weight_dims(int in, int out) { return {out, in, 3, 3}; }

  Range range_;
  std::size_t weight_;
  dnnl::stream stream_;
  ConvolutionDescs any_;
  memory::desc src_;
  memory::desc weights_;
  memory::desc dst_;
  Forward::primitive_desc forward_pd_;
  BackwardData::primitive_desc data_pd_;
  BackwardWeights::primitive_desc weights_pd_;
  Forward forward_;
  BackwardData backward_data_;
  BackwardWeights backward_weights_;
  Port x_;
  Port w_;
  Port y_;
  Port w_for_data_;
  Port d_y_for_data_;
  Port d_x_;
  Port x_for_weights_;
  Port d_y_for_weights_;
  Port d_w_;
};

using InnerProduct = dnnl::inner_product_forward;

class Linear : public Block {
 public:
  Linear(const Layout& layout, const std::string& name, const LinearShape& shape, Edge in, Edge out)
      : range_(layout.range(name + ".weight", name + ".bias")),
        weight_(layout.parameter(name + ".weight").offset),
        bias_(layout.parameter(name + ".bias").offset),
        shape_(shape),
        in_(in),
        out_(out),
        stream_(cpu()),
        forward_pd_(forward_desc(shape)),
        forward_(forward_pd_),
        x_(floats({shape.batch, shape.in}, Tag::ab), cpu(), in.value),
        b_(floats({shape.out}, Tag::a), cpu(), nullptr),
        y_(floats({shape.batch, shape.out}, Tag::ab), cpu(), out.value),
        w_(floats({shape.out, shape.in}, Tag::ab), forward_pd_.weights_desc(), nullptr) {}

  // Once per step the weights are copied into the layout that makes 16-row products 6 times as
  // fast.
  void prepare(const float* weights) override {
    w_.point_to(weights + weight_);
    w_.pull(stream_);
    b_.set_data_handle(const_cast<float*>(weights + bias_));  // NOLINT: oneDNN reads it
  }

  void forward(const Pass& /*pass*/) override {
    forward_.execute(stream_,
                     {{DNNL_ARG_SRC, x_},
                      {DNNL_ARG_WEIGHTS, w_.get()},
                      {DNNL_ARG_BIAS, b_},
                      {DNNL_ARG_DST, y_}});
  }

  void backward(const Pass& pass) override {
    float* const d_y = out_.gradient;
    if (shape_.relu)
      relu_backward(out_.value,
                    d_y,
                    static_cast<std::size_t>(shape_.batch) * static_cast<std::size_t>(shape_.out));
    sum_rows(d_y, shape_.batch, shape_.out, pass.sums + bias_);
    multiply({d_y, shape_.out, true},
             {in_.value, shape_.in},
             shape_.batch,
             {pass.sums + weight_, shape_.out, shape_.in, shape_.in});
    if (in_.gradient != nullptr)
      multiply({d_y, shape_.out},
               {pass.weights + weight_, shape_.in},
               shape_.out,
               {in_.gradient, shape_.batch, shape_.in, shape_.in});
  }

  [[nodiscard]] Range completes() const override { return range_; }

 private:
  static InnerProduct::primitive_desc forward_desc(const LinearShape& s) {
    return forward_primitive<InnerProduct>(s.relu ? followed_by_relu() : dnnl::primitive_attr(),
                                           dnnl::prop_kind::forward_training,
                                           floats({s.batch, s.in}, Tag::ab),
                                           floats({s.out, s.in}, Tag::any),
                                           floats({s.out}, Tag::a),
                                           floats({s.batch, s.out}, Tag::ab));
  }

  Range range_;
  std::size_t weight_;
  std::size_t bias_;
  LinearShape shape_;
  Edge in_;
  Edge out_;
  dnnl::stream stream_;
  InnerProduct::primitive_desc forward_pd_;
  InnerProduct forward_;
  memory x_;
  memory b_;
  memory y_;
  Port w_;
};

}  // namespace

std::unique_ptr<Block> convolution(const Layout& layout,
                                   const std::string& name,
                                   const Images& in_shape,
                                   int out_channels,
                                   Edge in,
                                   Edge out) {
  return std::make_unique<Convolution>(
      layout.range(name + ".weight", name + ".weight"), in_shape, out_channels, in, out);
}

std::unique_ptr<Block> linear(
    const Layout& layout, const std::string& name, const LinearShape& shape, Edge in, Edge out) {
  return std::make_unique<Linear>(layout, name, shape, in, out);
}

}  // namespace dts::train
