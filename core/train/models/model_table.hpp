// SPDX-License-Identifier: Apache-2.0
// The models that dttrain knows, a row each. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/train/model/model.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dts::train {

// A number that a model's shapes or constants depend on, by the name it has in Hugging Face's
// config.json where the model is known there.
struct Size {
  const char* key;
  double standard;  // where nothing is said
  double least;     // whole numbers if `least` is one, otherwise any real number above it
  double most;
};

// A value for each row of a model's `sizes`.
class Sizes {
 public:
  explicit Sizes(std::span<const Size> sizes);

  // False if there is no such key, or it may not have that value.
  [[nodiscard]] bool set(std::string_view key, double value);

  [[nodiscard]] int integer(const std::string& key) const;  // the key must exist, as below
  [[nodiscard]] double real(const std::string& key) const;

  [[nodiscard]] std::span<const Size> table() const { return sizes_; }

  // "n_layer=4,n_head=4", in the order of the table.
  [[nodiscard]] std::string text() const;

 private:
  std::span<const Size> sizes_;
  std::map<std::string, double, std::less<>> values_;
};

// Sizes of a model by name: "char-mini" is "n_layer=4,n_embd=128".
struct Preset {
  const char* name;
  const char* sizes;
};

// What a model's folder of Hugging Face's transformers looks like.
struct HubForm {
  // A key of config.json whose other values would compute something else.
  struct Fixed {
    const char* key;
    const char* value;  // in JSON; absent means the same
  };

  const char* architecture;    // "GPT2LMHeadModel"
  const char* prefix;          // of tensors' names, which files may leave out
  const char* tied = nullptr;  // a tensor that files may repeat under this name
  std::span<const Fixed> fixed{};
  std::span<const char* const> ignored{};  // ends of names that are no weights
  // Tokens that begin and end a text, where config.json does not say: transformers' own.
  int bos = 0;
  int eos = 0;
};

// Each is defined in its model's file.
struct ModelRow {
  const char* name;  // also its model_type in config.json
  const char* help;
  std::span<const Size> sizes;
  std::span<const Preset> presets;
  Result<Model> (*make)(const Sizes&);  // Errc::usage if the sizes do not go together
  const HubForm* hub = nullptr;         // nullptr: transformers does not know it
};

[[nodiscard]] std::span<const ModelRow* const> model_table();

// nullptr for an unknown name.
[[nodiscard]] const ModelRow* find_model(std::string_view name);

// A row's sizes where `words`, "n_layer=2,n_head=2", do not say otherwise. Errc::usage.
[[nodiscard]] Result<Sizes> parse_sizes(const ModelRow& row, std::string_view words);

// "cnn2", "gpt2:char-mini" or "mlp,hidden_size=64": a row's name, perhaps a preset, and sizes that
// differ from it. Errc::usage names what is unknown and what there is.
[[nodiscard]] Result<Model> make_model(std::string_view words);

// The same of a row and its sizes.
[[nodiscard]] Result<Model> make_model(const ModelRow& row, const Sizes& sizes);

// Model::flops of layers whose forward passes are that many operations. Backward is twice as many,
// for the gradients of weights and of inputs; the first layer needs none of its inputs.
[[nodiscard]] constexpr double training_flops(double first_layer, double others) {
  return 2 * first_layer + 3 * others;
}

// NAME.weight [out][in] and NAME.bias, as PyTorch initialises them but for the bias, which is zero;
// `pixels`: Tensor::pixels.
void add_linear(Layout& layout, const std::string& name, int in, int out, int pixels = 0);

// NAME.weight, NAME.bias, NAME.running_mean and NAME.running_var of images of that many pixels.
void add_batch_norm(Layout& layout, const std::string& name, int channels, int pixels);

}  // namespace dts::train
