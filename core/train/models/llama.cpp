// SPDX-License-Identifier: Apache-2.0
// Llama-shaped decoders (H. Touvron et al., "LLaMA", 2023, and "Llama 2", 2023), with the names and
// layouts of transformers' LlamaForCausalLM: matrices are [out][in], and rotations pair the two
// halves of a head.
#include "core/train/models/decoder.hpp"
#include "core/train/models/model_table.hpp"

#include <fmt/format.h>

namespace dts::train {
namespace llama {
namespace {

constexpr const char* k_tokens = "model.embed_tokens.weight";
constexpr const char* k_head = "lm_head.weight";

struct Shape {
  int vocabulary = 0;
  int context = 0;
  int width = 0;
  int inner = 0;
  int layers = 0;
  int heads = 0;
  int key_heads = 0;
  int head_width = 0;
  double theta = 0;
  float epsilon = 0;
  float deviation = 0;  // of initial weights
  bool is_tied = false;

  [[nodiscard]] int queries() const { return heads * head_width; }

  [[nodiscard]] int keys() const { return key_heads * head_width; }
};

std::string in_layer(int layer, const char* name) {
  return fmt::format("model.layers.{}.{}", layer, name);
}

Layout layout_of(const Shape& s) {
  Layout layout;
  const auto matrix = [&](const std::string& name, int out, int in) {
    layout.add_parameter(
        {.name = name, .shape = {out, in}, .init = Init::normal, .deviation = s.deviation});
  };
  const auto norm = [&](const std::string& name) {
    layout.add_parameter({.name = name + ".weight", .shape = {s.width}, .init = Init::ones});
  };
  matrix(k_tokens, s.vocabulary, s.width);
  for (int layer = 0; layer < s.layers; ++layer) {
    norm(in_layer(layer, "input_layernorm"));
    matrix(in_layer(layer, "self_attn.q_proj.weight"), s.queries(), s.width);
    matrix(in_layer(layer, "self_attn.k_proj.weight"), s.keys(), s.width);
    matrix(in_layer(layer, "self_attn.v_proj.weight"), s.keys(), s.width);
    matrix(in_layer(layer, "self_attn.o_proj.weight"), s.width, s.queries());
    norm(in_layer(layer, "post_attention_layernorm"));
    matrix(in_layer(layer, "mlp.gate_proj.weight"), s.inner, s.width);
    matrix(in_layer(layer, "mlp.up_proj.weight"), s.inner, s.width);
    matrix(in_layer(layer, "mlp.down_proj.weight"), s.width, s.inner);
  }
  norm("model.norm");
  if (!s.is_tied) matrix(k_head, s.vocabulary, s.width);
  return layout;
}

class Builder : private Decoder {
 public:
  Builder(Plan& plan, const Shape& shape)
      : Decoder(plan, shape.context, shape.width),
        s_(shape),
        angles_(std::make_shared<const Angles>(s_.context, s_.head_width, s_.theta)),
        d_inner_(gradient(s_.inner)),
        d_gate_(gradient(s_.inner)),
        d_heads_(gradient(s_.queries())),
        d_queries_(gradient(s_.queries())),
        d_keys_(gradient(s_.keys())),
        d_values_(gradient(s_.keys())) {}

  void build() {
    Edge at = embed(k_tokens, "", s_.is_tied ? Into::adds : Into::overwrites);
    for (int layer = 0; layer < s_.layers; ++layer) {
      begin_layer();
      const Edge from = at;
      at = add_mlp(layer, add_attention(layer, from));
      end_layer(from);
    }
    finish(s_.is_tied ? k_tokens : k_head,
           s_.vocabulary,
           s_.is_tied,
           norm("model.norm", at, Into::overwrites));
  }

 private:
  Edge norm(const std::string& name, Edge from, Into into) {
    const Edge to = normal();
    plan().add(plan().maker().rms_norm(
        plan().layout(), {name, {rows(), s_.width}, s_.epsilon, into}, from, to));
    return to;
  }

  struct Widths {
    int in = 0;
    int out = 0;
  };

  // `into`: among layers with the same input, the backward pass of the last one runs first.
  void linear(const std::string& name,
              const Widths& widths,
              Edge from,
              Edge to,
              Into into,
              const float* residual = nullptr) {
    plan().add(plan().maker().projection(plan().layout(),
                                         {.weight = name,
                                          .bias = "",
                                          .rows = rows(),
                                          .in = widths.in,
                                          .out = widths.out,
                                          .residual = residual,
                                          .into = into,
                                          .is_inside = residual == nullptr,
                                          .precision = plan().precision()},
                                         from,
                                         to));
  }

  void rotate(const Heads& heads) {
    plan().add(
        plan().maker().rotation(angles_, plan().micro_batch(), s_.context, s_.head_width, heads));
  }

  Edge add_attention(int layer, Edge from) {
    const Edge normed = norm(in_layer(layer, "input_layernorm"), from, Into::adds);
    const Heads queries{activation(s_.queries(), d_queries_), s_.queries(), s_.heads};
    const Heads keys{activation(s_.keys(), d_keys_), s_.keys(), s_.key_heads};
    const Heads values{activation(s_.keys(), d_values_), s_.keys(), s_.key_heads};
    const auto project = [&](const char* name, const Heads& to, Into into) {
      linear(in_layer(layer, name), {s_.width, to.pitch}, normed, to.edge, into);
    };
    project("self_attn.q_proj.weight", queries, Into::adds);
    project("self_attn.k_proj.weight", keys, Into::adds);
    project("self_attn.v_proj.weight", values, Into::overwrites);
    rotate(queries);
    rotate(keys);
    const Edge heads = activation(s_.queries(), d_heads_);
    plan().add(plan().maker().attention({plan().micro_batch(),
                                         s_.context,
                                         s_.head_width,
                                         queries,
                                         keys,
                                         values,
                                         plan().precision()},
                                        heads));
    const Edge to = stream();
    linear(in_layer(layer, "self_attn.o_proj.weight"),
           {s_.queries(), s_.width},
           heads,
           to,
           Into::overwrites,
           from.value);
    return to;
  }

  Edge add_mlp(int layer, Edge from) {
    const Edge normed = norm(in_layer(layer, "post_attention_layernorm"), from, Into::adds);
    const Edge gate = activation(s_.inner, d_gate_);
    const Edge up = activation(s_.inner, d_inner_);
    const Widths widens{s_.width, s_.inner};
    linear(in_layer(layer, "mlp.gate_proj.weight"), widens, normed, gate, Into::adds);
    linear(in_layer(layer, "mlp.up_proj.weight"), widens, normed, up, Into::overwrites);
    const Edge product = activation(s_.inner, d_inner_);
    plan().add(plan().maker().swiglu(count(s_.inner), gate, up, product));
    const Edge to = output();
    linear(in_layer(layer, "mlp.down_proj.weight"),
           {s_.inner, s_.width},
           product,
           to,
           Into::overwrites,
           from.value);
    return to;
  }

  Shape s_;
  std::shared_ptr<const Angles> angles_;
  float* d_inner_;
  float* d_gate_;
  float* d_heads_;
  float* d_queries_;
  float* d_keys_;
  float* d_values_;
};

Result<void> check(const Shape& s) {
  if (s.width % 16 == 0 && s.inner % 16 == 0 && s.head_width % 2 == 0 && s.head_width > 0 &&
      s.heads % s.key_heads == 0)
    return {};
  return fail(Errc::usage,
              fmt::format("llama: hidden_size {} and intermediate_size {} must be multiples of 16, "
                          "num_attention_heads {} of num_key_value_heads {}, and head_dim {} even",
                          s.width,
                          s.inner,
                          s.heads,
                          s.key_heads,
                          s.head_width));
}

// The keys and default values of transformers' LlamaConfig.
constexpr Size k_sizes[] = {{"vocab_size", 32000, 2, 1 << 24},
                            {"hidden_size", 4096, 16, 65536},
                            {"intermediate_size", 11008, 16, 1 << 20},
                            {"num_hidden_layers", 32, 0, 1024},
                            {"num_attention_heads", 32, 1, 1024},
                            {"num_key_value_heads", 0, 0, 1024},
                            {"head_dim", 0, 0, 65536},
                            {"max_position_embeddings", 2048, 1, 1 << 20},
                            {"rope_theta", 10000, 1.5, 1e12},
                            {"rms_norm_eps", 1e-6, 1e-12, 1},
                            {"initializer_range", 0.02, 1e-6, 10},
                            {"tie_word_embeddings", 0, 0, 1}};
constexpr Preset k_presets[] = {
    {"char-mini",
     "vocab_size=256,max_position_embeddings=64,hidden_size=128,intermediate_size=384,num_hidden_"
     "layers=4,num_attention_heads=4,num_key_value_heads=2"},
    {"1.1B",
     "hidden_size=2048,intermediate_size=5632,num_hidden_layers=22,num_key_value_heads=4,rms_norm_"
     "eps=1e-5"},
};

Result<Model> make(const Sizes& sizes) {
  Shape shape{sizes.integer("vocab_size"),
              sizes.integer("max_position_embeddings"),
              sizes.integer("hidden_size"),
              sizes.integer("intermediate_size"),
              sizes.integer("num_hidden_layers"),
              sizes.integer("num_attention_heads"),
              sizes.integer("num_key_value_heads"),
              sizes.integer("head_dim"),
              sizes.real("rope_theta"),
              static_cast<float>(sizes.real("rms_norm_eps")),
              static_cast<float>(sizes.real("initializer_range")),
              sizes.integer("tie_word_embeddings") != 0};
  if (shape.key_heads == 0) shape.key_heads = shape.heads;
  if (shape.head_width == 0) shape.head_width = shape.width / shape.heads;
  DTS_TRY(check(shape));
  Model model;
  model.layout = layout_of(shape);
  model.reads = {Reads::What::tokens, 0, shape.vocabulary, shape.context};
  model.classes = shape.vocabulary;
  model.flops = decoder_flops(model.layout,
                              {shape.is_tied ? 0.0 : 1.0 * shape.vocabulary * shape.width,
                               shape.layers,
                               shape.queries(),
                               shape.context});
  model.build = [shape](Plan& plan) { Builder(plan, shape).build(); };
  model.has_layers = true;
  return model;
}

constexpr HubForm::Fixed k_fixed[] = {{"hidden_act", "\"silu\""},
                                      {"attention_bias", "false"},
                                      {"mlp_bias", "false"},
                                      {"rope_scaling", "null"},
                                      {"pretraining_tp", "1"}};
constexpr const char* k_ignored[] = {".rotary_emb.inv_freq"};
constexpr HubForm k_hub{"LlamaForCausalLM", "model.", nullptr, k_fixed, k_ignored, 1, 2};

}  // namespace
}  // namespace llama

extern const ModelRow k_llama;
const ModelRow k_llama{"llama",
                       "decoder with RMS norm, SwiGLU, rotary positions, grouped queries",
                       llama::k_sizes,
                       llama::k_presets,
                       llama::make,
                       &llama::k_hub};

}  // namespace dts::train
