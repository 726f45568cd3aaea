// SPDX-License-Identifier: Apache-2.0
// Batch normalisation on a device: a shard by its own statistics, which are summed over shards for
// the running ones.
#include "core/train/accelerator/images/device_image_blocks.hpp"
#include "core/train/model/batch_norm.hpp"

namespace dts::train::accelerator {
namespace {

int rows_of(const Images& shape) {
  return shape.batch * shape.height * shape.width;
}

// The part that does not depend on what follows.
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

  // The statistics of x, when training.
  void measure(const Pass& pass, const float* x) {
    if (!pass.training) return;
    const BatchNormTensors::Statistics to = tensors_.statistics(pass);
    queue_.launch(ChannelMoments{{all_, partials_}, x});
    queue_.launch(ChannelStatistics{ends(all_), all_.rows, to.mean, to.variance});
  }

  // Of partial sums over `rows`.
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
  [[nodiscard]] ChannelEnds ends(const Channelwise& rows) const {
    return {rows.channels, static_cast<int>(rows.parts()), partials_};
  }

  Queue& queue_;
  BatchNormTensors tensors_;
  Channelwise all_;
  double* partials_;
};

class DeviceBnRelu : public Block {
 public:
  DeviceBnRelu(Queue& queue, const DeviceBatchNorm& norm, Edge in, Edge out, const float* residual)
      : queue_(queue), norm_(norm), in_(in), out_(out), residual_(residual) {}

  void forward(const Pass& pass) override {
    norm_.measure(pass, in_.value);
    queue_.launch(BatchNormRelu{norm_.all(), norm_.norm(pass), in_.value, residual_, out_.value});
  }

  void backward(const Pass& pass) override {
    queue_.launch(BatchNormReluGradients{
        {norm_.all(), norm_.partials()}, norm_.norm(pass), in_.value, out_.value, out_.gradient});
    norm_.end_gradients(pass, norm_.all());
    queue_.launch(BatchNormBackward{norm_.all(),
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
  Edge in_;
  Edge out_;
  const float* residual_;
};

class DeviceBnReluPool : public Block {
 public:
  DeviceBnReluPool(
      Queue& queue, const DeviceBatchNorm& norm, const Images& shape, Edge in, Edge out)
      : queue_(queue),
        norm_(norm),
        pooled_{rows_of(shape) / 4, shape.channels},
        shape_{shape.height, shape.width},
        in_(in),
        out_(out) {}

  void forward(const Pass& pass) override {
    norm_.measure(pass, in_.value);
    queue_.launch(BatchNormReluPool{pooled_, shape_, norm_.norm(pass), in_.value, out_.value});
  }

  void backward(const Pass& pass) override {
    queue_.launch(BatchNormPoolGradients{
        {pooled_, norm_.partials()}, shape_, norm_.norm(pass), in_.value, out_.gradient});
    norm_.end_gradients(pass, pooled_);
    queue_.launch(BatchNormPoolBackward{pooled_,
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
  Edge in_;
  Edge out_;
};

}  // namespace

std::size_t norm_partials(const Images& shape) {
  return 2 * Channelwise{rows_of(shape), shape.channels}.parts() *
         static_cast<std::size_t>(shape.channels);
}

std::unique_ptr<Block> device_bn_relu(Queue& queue,
                                      const Layout& layout,
                                      const std::string& name,
                                      const Images& shape,
                                      Edge in,
                                      Edge out,
                                      const float* residual,
                                      double* partials) {
  return std::make_unique<DeviceBnRelu>(
      queue, DeviceBatchNorm(queue, layout, name, shape, partials), in, out, residual);
}

std::unique_ptr<Block> device_bn_relu_pool(Queue& queue,
                                           const Layout& layout,
                                           const std::string& name,
                                           const Images& shape,
                                           Edge in,
                                           Edge out,
                                           double* partials) {
  return std::make_unique<DeviceBnReluPool>(
      queue, DeviceBatchNorm(queue, layout, name, shape, partials), shape, in, out);
}

}  // namespace dts::train::accelerator
