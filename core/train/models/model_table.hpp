// SPDX-License-Identifier: Apache-2.0
// The models that dttrain knows, one row each. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/train/model/model.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dts::train {

// A number that determines a model's shapes or constants. Its key is that of Hugging Face's
// config.json, if transformers knows the model.
struct Size {
  const char* key;
  double standard;  // default
  double least;     // if it is an integer, values are integers; otherwise reals above it
  double most;
};

// A value for each of a row's `sizes`.
class Sizes {
 public:
  explicit Sizes(std::span<const Size> sizes);

  // Returns false if the key does not exist or cannot have this value.
  [[nodiscard]] bool set(std::string_view key, double value);

  [[nodiscard]] int integer(const std::string& key) const;  // the key must exist, also for real()
  [[nodiscard]] double real(const std::string& key) const;

  [[nodiscard]] std::span<const Size> table() const { return sizes_; }

  // "n_layer=4,n_head=4", in the order of the table.
  [[nodiscard]] std::string text() const;

 private:
  std::span<const Size> sizes_;
  std::map<std::string, double, std::less<>> values_;
};

// A name for some sizes of a model: "char-mini" is "n_layer=4,n_embd=128".
struct Preset {
  const char* name;
  const char* sizes;
};

// How Hugging Face's transformers stores a model in a folder.
struct HubForm {
  // A key of config.json for which other values would mean a different computation.
  struct Fixed {
    const char* key;
    const char* value;  // in JSON; also assumed if the key is absent
  };

  const char* architecture;    // "GPT2LMHeadModel"
  const char* prefix;          // of the names of tensors; files may omit it
  const char* tied = nullptr;  // a name under which files may repeat a tensor
  std::span<const Fixed> fixed{};
  std::span<const char* const> ignored{};  // suffixes of names that are not weights
  // The tokens that begin and end a text if config.json does not set them: transformers' defaults.
  int bos = 0;
  int eos = 0;
};

// Each row is defined in its model's file.
struct ModelRow {
  const char* name;  // also its model_type in config.json
  const char* help;
  std::span<const Size> sizes;
  std::span<const Preset> presets;
  Result<Model> (*make)(const Sizes&);  // Errc::usage if the sizes are inconsistent
  const HubForm* hub = nullptr;         // nullptr: unknown to transformers
};

[[nodiscard]] std::span<const ModelRow* const> model_table();

// nullptr for an unknown name.
[[nodiscard]] const ModelRow* find_model(std::string_view name);

// The sizes in `words`, "n_layer=2,n_head=2", and defaults for the rest. Errc::usage.
[[nodiscard]] Result<Sizes> parse_sizes(const ModelRow& row, std::string_view words);

// Makes a model from "cnn2", "gpt2:char-mini" or "mlp,hidden_size=64": the name of a row,
// optionally a preset, and sizes that differ from it. Errc::usage names what is unknown and the
// valid choices.
[[nodiscard]] Result<Model> make_model(std::string_view words);

// Makes the model of a row with these sizes.
[[nodiscard]] Result<Model> make_model(const ModelRow& row, const Sizes& sizes);

// Model::flops of layers whose forward passes need that many operations. The backward pass needs
// twice as many, for the gradients of weights and inputs, except that the first layer needs no
// gradient of its inputs.
[[nodiscard]] constexpr double training_flops(double first_layer, double others) {
  return 2 * first_layer + 3 * others;
}

// Adds NAME.weight [out][in] and NAME.bias. The weight is initialised as in PyTorch, the bias with
// zeros. `pixels` is Tensor::pixels.
void add_linear(Layout& layout, const std::string& name, int in, int out, int pixels = 0);

// Adds NAME.weight, NAME.bias, NAME.running_mean and NAME.running_var, for images of that many
// pixels.
void add_batch_norm(Layout& layout, const std::string& name, int channels, int pixels);

}  // namespace dts::train
