// SPDX-License-Identifier: Apache-2.0
// GPT-2 (A. Radford et al., "Language Models are Unsupervised Multitask Learners", 2019), with the
// names and layouts of transformers' GPT2LMHeadModel, whose Conv1D matrices are [in][out]. No
// dropout.
#include "core/train/models/decoder.hpp"
#include "core/train/models/model_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dts::train {
namespace gpt2 {
namespace {

constexpr const char* k_tokens = "transformer.wte.weight";
constexpr const char* k_positions = "transformer.wpe.weight";

struct Shape {
  int vocabulary = 0;
  int context = 0;
  int width = 0;
  int layers = 0;
  int heads = 0;
  int inner = 0;
  float epsilon = 0;
  float deviation = 0;  // of initial weights
};

std::string in_layer(int layer, const char* name) {
  return fmt::format("transformer.h.{}.{}", layer, name);
}

void add_norm(Layout& layout, const std::string& name, int width) {
  layout.add_parameter({.name = name + ".weight", .shape = {width}, .init = Init::ones});
  layout.add_parameter({.name = name + ".bias", .shape = {width}});
}

void add_conv1d(Layout& layout, const std::string& name, int in, int out, float deviation) {
  layout.add_parameter(
      {.name = name + ".weight", .shape = {in, out}, .init = Init::normal, .deviation = deviation});
  layout.add_parameter({.name = name + ".bias", .shape = {out}});
}

Layout layout_of(const Shape& s) {
  Layout layout;
  const auto table = [&](const char* name, int rows) {
    layout.add_parameter(
        {.name = name, .shape = {rows, s.width}, .init = Init::normal, .deviation = s.deviation});
  };
  table(k_tokens, s.vocabulary);
  table(k_positions, s.context);
  // Weights at the end of a branch are scaled down by the square root of the number of branches.
  const float last = s.deviation / std::sqrt(2 * static_cast<float>(s.layers));
  for (int layer = 0; layer < s.layers; ++layer) {
    add_norm(layout, in_layer(layer, "ln_1"), s.width);
    add_conv1d(layout, in_layer(layer, "attn.c_attn"), s.width, 3 * s.width, s.deviation);
    add_conv1d(layout, in_layer(layer, "attn.c_proj"), s.width, s.width, last);
    add_norm(layout, in_layer(layer, "ln_2"), s.width);
    add_conv1d(layout, in_layer(layer, "mlp.c_fc"), s.width, s.inner, s.deviation);
    add_conv1d(layout, in_layer(layer, "mlp.c_proj"), s.inner, s.width, last);
  }
  add_norm(layout, "transformer.ln_f", s.width);
  return layout;
}

class Builder : private Decoder {
 public:
  Builder(Plan& plan, const Shape& shape)
      : Decoder(plan, shape.context, shape.width),
        s_(shape),
        d_inner_(gradient(std::max(s_.inner, 3 * s_.width))),
        d_heads_(gradient(s_.width)) {}

  void build() {
    Edge at = embed(k_tokens, k_positions, Into::adds);
    for (int layer = 0; layer < s_.layers; ++layer) {
      begin_layer();
      const Edge from = at;
      at = add_mlp(layer, add_attention(layer, from));
      end_layer(from);
    }
    finish(k_tokens, s_.vocabulary, true, norm("transformer.ln_f", at, Into::overwrites));
  }

 private:
  Edge norm(const std::string& name, Edge from, Into into) {
    const Edge to = normal();
    plan().add(plan().maker().layer_norm(
        plan().layout(), {name, {rows(), s_.width}, s_.epsilon, into}, from, to));
    return to;
  }

  void conv1d(const std::string& name, int in, int out, Edge from, Edge to, const float* residual) {
    plan().add(plan().maker().projection(plan().layout(),
                                         {.weight = name + ".weight",
                                          .bias = name + ".bias",
                                          .rows = rows(),
                                          .in = in,
                                          .out = out,
                                          .is_in_out = true,
                                          .residual = residual,
                                          .is_inside = residual == nullptr,
                                          .precision = plan().precision()},
                                         from,
                                         to));
  }

  // Queries, keys or values in the rows of c_attn's output.
  [[nodiscard]] Heads heads_of(Edge all, int which) const {
    const int offset = which * s_.width;
    return {{all.value + offset, all.gradient + offset}, 3 * s_.width, s_.heads};
  }

  Edge add_attention(int layer, Edge from) {
    const Edge normed = norm(in_layer(layer, "ln_1"), from, Into::adds);
    const Edge all = activation(3 * s_.width, d_inner_);
    conv1d(in_layer(layer, "attn.c_attn"), s_.width, 3 * s_.width, normed, all, nullptr);
    const Edge heads = activation(s_.width, d_heads_);
    plan().add(plan().maker().attention({plan().micro_batch(),
                                         s_.context,
                                         s_.width / s_.heads,
                                         heads_of(all, 0),
                                         heads_of(all, 1),
                                         heads_of(all, 2),
                                         plan().precision()},
                                        heads));
    const Edge to = stream();
    conv1d(in_layer(layer, "attn.c_proj"), s_.width, s_.width, heads, to, from.value);
    return to;
  }

  Edge add_mlp(int layer, Edge from) {
    const Edge normed = norm(in_layer(layer, "ln_2"), from, Into::adds);
    const Edge inner = activation(s_.inner, d_inner_);
    conv1d(in_layer(layer, "mlp.c_fc"), s_.width, s_.inner, normed, inner, nullptr);
    const Edge curved = activation(s_.inner, d_inner_);
    plan().add(plan().maker().gelu(count(s_.inner), inner, curved));
    const Edge to = output();
    conv1d(in_layer(layer, "mlp.c_proj"), s_.inner, s_.width, curved, to, from.value);
    return to;
  }

  Shape s_;
  float* d_inner_;
  float* d_heads_;
};

// The keys and default values of transformers' GPT2Config.
constexpr Size k_sizes[] = {{"vocab_size", 50257, 2, 1 << 24},
                            {"n_positions", 1024, 1, 1 << 20},
                            {"n_embd", 768, 16, 65536},
                            {"n_layer", 12, 0, 1024},
                            {"n_head", 12, 1, 1024},
                            {"n_inner", 0, 0, 1 << 20},
                            {"layer_norm_epsilon", 1e-5, 1e-12, 1},
                            {"initializer_range", 0.02, 1e-6, 10}};
constexpr Preset k_presets[] = {
    {"char-mini", "vocab_size=256,n_positions=64,n_embd=128,n_layer=4,n_head=4"},
    {"mini", "vocab_size=256,n_positions=256,n_embd=384,n_layer=6,n_head=6"},
    {"124M", ""},
    {"355M", "n_embd=1024,n_layer=24,n_head=16"},
};

Result<Model> make(const Sizes& sizes) {
  Shape shape{sizes.integer("vocab_size"),
              sizes.integer("n_positions"),
              sizes.integer("n_embd"),
              sizes.integer("n_layer"),
              sizes.integer("n_head"),
              sizes.integer("n_inner"),
              static_cast<float>(sizes.real("layer_norm_epsilon")),
              static_cast<float>(sizes.real("initializer_range"))};
  if (shape.inner == 0) shape.inner = 4 * shape.width;
  if (shape.width % 16 != 0 || shape.inner % 16 != 0 || shape.width % shape.heads != 0)
    return fail(Errc::usage,
                fmt::format("gpt2: n_embd {} and n_inner {} must be multiples of 16, and n_embd of "
                            "n_head {}",
                            shape.width,
                            shape.inner,
                            shape.heads));
  Model model;
  model.layout = layout_of(shape);
  model.reads = {Reads::What::tokens, 0, shape.vocabulary, shape.context};
  model.classes = shape.vocabulary;
  model.flops = decoder_flops(
      model.layout, {1.0 * shape.context * shape.width, shape.layers, shape.width, shape.context});
  model.build = [shape](Plan& plan) { Builder(plan, shape).build(); };
  model.has_layers = true;
  return model;
}

constexpr HubForm::Fixed k_fixed[] = {{"activation_function", "\"gelu_new\""},
                                      {"scale_attn_weights", "true"},
                                      {"scale_attn_by_inverse_layer_idx", "false"},
                                      {"add_cross_attention", "false"},
                                      {"tie_word_embeddings", "true"}};
// Masks, which releases before 2023 stored.
constexpr const char* k_ignored[] = {".attn.bias", ".attn.masked_bias"};
constexpr HubForm k_hub{
    "GPT2LMHeadModel", "transformer.", "lm_head.weight", k_fixed, k_ignored, 50256, 50256};

}  // namespace
}  // namespace gpt2

extern const ModelRow k_gpt2;
const ModelRow k_gpt2{"gpt2",
                      "decoder with learned positions and GELU",
                      gpt2::k_sizes,
                      gpt2::k_presets,
                      gpt2::make,
                      &gpt2::k_hub};

}  // namespace dts::train
