// SPDX-License-Identifier: Apache-2.0
#include "core/train/models/decoder.hpp"

namespace dts::train {

Decoder::Decoder(Plan& plan, int context, int width)
    : plan_(plan),
      context_(context),
      width_(width),
      rows_(plan.micro_batch() * context),
      d_stream_(gradient(width)),
      d_normal_(gradient(width)) {}

Edge Decoder::embed(const std::string& tokens, const std::string& positions, Into into) {
  const Edge begin = output();
  plan_.add(
      plan_.maker().embedding(plan_.layout(),
                              {tokens, positions, plan_.micro_batch(), context_, width_, into},
                              plan_.tokens(),
                              begin));
  return begin;
}

void Decoder::finish(const std::string& weight, int vocabulary, bool is_tied, Edge normal) {
  // Accelerators compute products faster if rows begin at multiples of 16 or more values.
  constexpr int k_aligned = 64;
  const int room = (vocabulary + k_aligned - 1) / k_aligned * k_aligned;
  float* const logits = gradient(room);  // their gradient overwrites them
  plan_.add(plan_.maker().projection(plan_.layout(),
                                     {.weight = weight,
                                      .bias = "",
                                      .rows = rows_,
                                      .in = width_,
                                      .out = vocabulary,
                                      .is_shared = is_tied,
                                      .room = room,
                                      .precision = plan_.precision()},
                                     normal,
                                     {logits, logits}));
  plan_.set_logits({logits, logits}, room);
}

double decoder_flops(const Layout& layout, const DecoderWork& work) {
  double elements = -work.looked_up;
  for (const Tensor& tensor : layout.parameters)
    if (tensor.shape.size() > 1) elements += static_cast<double>(tensor.count);
  const double attention = 12.0 * work.layers * work.heads_width * work.context;
  return work.context * (6 * elements + attention);
}

}  // namespace dts::train
