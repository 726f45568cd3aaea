// SPDX-License-Identifier: Apache-2.0
// Batch normalisation on a device. A shard is normalised by its own statistics; their sums over
// shards update the running statistics.
#include "core/train/accelerator/images/device_image_blocks.hpp"
#include "core/train/accelerator/stored_edge.hpp"
#include "core/train/model/batch_norm.hpp"

namespace dts::train::accelerator {
namespace {

int rows_of(const Images& shape) {
  return shape.batch * shape.height * shape.width;
}

// The part that is the same whatever follows it.
class DeviceBatchNorm {
 public:
  DeviceBatchNorm(Queue& queue,
                  const Layout& layout,
                  const std::string& name,
                  const Images& shape,
                  double* partials)
      : queue_(queue),
        tensors_(layout, name),
        all_{rows_of(shape), shape.channels},
        partials_(partials) {}

  // Computes the statistics of x; does nothing when not training.
  template <class Value>
  void measure(const Pass& pass, const Value* x) {
    if (!pass.training) return;
    const BatchNormTensors::Statistics to = tensors_.statistics(pass);
    queue_.launch(ChannelMoments<Value>{{all_, partials_}, x});
    queue_.launch(ChannelStatistics{ends(all_), all_.rows, to.mean, to.variance});
  }

  // Adds up partial sums over `rows`.
  void end_gradients(const Pass& pass, const Channelwise& rows) {
    queue_.launch(ChannelGradients{ends(rows), tensors_.d_gamma(pass), tensors_.d_beta(pass)});
  }

  [[nodiscard]] ChannelNorm norm(const Pass& pass) const {
    const BatchNorm all = tensors_.parameters(pass);
    return {all.gamma, all.beta, all.mean, all.variance};
  }

  [[nodiscard]] const Channelwise& all() const { return all_; }

  [[nodiscard]] const BatchNormTensors& tensors() const { return tensors_; }

  [[nodiscard]] double* partials() const { return partials_; }

 private:
  [[nodiscard]] ChannelTotals ends(const Channelwise& rows) const {
    return {rows.channels, static_cast<int>(rows.parts()), partials_};
  }

  Queue& queue_;
  BatchNormTensors tensors_;
  Channelwise all_;
  double* partials_;
};

template <class Value>
class DeviceBnRelu : public Block {
 public:
  DeviceBnRelu(Queue& queue,
               const Products& products,
               const DeviceBatchNorm& norm,
               Edge in,
               Edge out,
               const float* residual)
      : queue_(queue),
        norm_(norm),
        in_(products, in),
        out_(products, out),
        residual_(products.as<Value>(residual)) {}

  void forward(const Pass& pass) override {
    norm_.measure(pass, in_.value);
    queue_.launch(
        BatchNormRelu<Value>{norm_.all(), norm_.norm(pass), in_.value, residual_, out_.value});
  }

  void backward(const Pass& pass) override {
    queue_.launch(BatchNormReluGradients<Value>{
        {norm_.all(), norm_.partials()}, norm_.norm(pass), in_.value, out_.value, out_.gradient});
    norm_.end_gradients(pass, norm_.all());
    queue_.launch(BatchNormBackward<Value>{norm_.all(),
                                           norm_.norm(pass),
                                           norm_.tensors().d_gamma(pass),
                                           norm_.tensors().d_beta(pass),
                                           in_.value,
                                           out_.gradient,
                                           in_.gradient});
  }

  [[nodiscard]] Range completes() const override { return norm_.tensors().range(); }

 private:
  Queue& queue_;
  DeviceBatchNorm norm_;
  StoredEdge<Value> in_;
  StoredEdge<Value> out_;
  const Value* residual_;
};

template <class Value>
class DeviceBnReluPool : public Block {
 public:
  DeviceBnReluPool(Queue& queue,
                   const Products& products,
                   const DeviceBatchNorm& norm,
                   const Images& shape,
                   Edge in,
                   Edge out)
      : queue_(queue),
        norm_(norm),
        pooled_{rows_of(shape) / 4, shape.channels},
        shape_{shape.height, shape.width},
        in_(products, in),
        out_(products, out) {}

  void forward(const Pass& pass) override {
    norm_.measure(pass, in_.value);
    queue_.launch(
        BatchNormReluPool<Value>{pooled_, shape_, norm_.norm(pass), in_.value, out_.value});
  }

  void backward(const Pass& pass) override {
    queue_.launch(BatchNormPoolGradients<Value>{
        {pooled_, norm_.partials()}, shape_, norm_.norm(pass), in_.value, out_.gradient});
    norm_.end_gradients(pass, pooled_);
    queue_.launch(BatchNormPoolBackward<Value>{pooled_,
                                               shape_,
                                               norm_.norm(pass),
                                               norm_.tensors().d_gamma(pass),
                                               norm_.tensors().d_beta(pass),
                                               in_.value,
                                               out_.gradient,
                                               in_.gradient});
  }

  [[nodiscard]] Range completes() const override { return norm_.tensors().range(); }

 private:
  Queue& queue_;
  DeviceBatchNorm norm_;
  Channelwise pooled_;
  PooledShape shape_;
  StoredEdge<Value> in_;
  StoredEdge<Value> out_;
};

}  // namespace

std::size_t norm_partials(const Images& shape) {
  return 2 * Channelwise{rows_of(shape), shape.channels}.parts() *
         static_cast<std::size_t>(shape.channels);
}

std::unique_ptr<Block> device_bn_relu(Queue& queue,
                                      Products& products,
                                      const Layout& layout,
                                      const std::string& name,
                                      const Images& shape,
                                      Edge in,
                                      Edge out,
                                      const float* residual,
                                      double* partials) {
  products.keep_rounded(out, shape.count());
  const DeviceBatchNorm norm(queue, layout, name, shape, partials);
  return stored_block<DeviceBnRelu>(queue, products, norm, in, out, residual);
}

std::unique_ptr<Block> device_bn_relu_pool(Queue& queue,
                                           Products& products,
                                           const Layout& layout,
                                           const std::string& name,
                                           const Images& shape,
                                           Edge in,
                                           Edge out,
                                           double* partials) {
  products.keep_rounded(out, shape.count() / 4);
  const DeviceBatchNorm norm(queue, layout, name, shape, partials);
  return stored_block<DeviceBnReluPool>(queue, products, norm, shape, in, out);
}

}  // namespace dts::train::accelerator
