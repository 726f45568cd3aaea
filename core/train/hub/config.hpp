// SPDX-License-Identifier: Apache-2.0
// config.json of Hugging Face's transformers. Pure; safe for any input.
#pragma once

#include "core/base/result.hpp"
#include "core/train/models/model_table.hpp"

#include <string>
#include <string_view>

namespace dts::train {

// Makes the model that a config.json describes; missing keys have transformers' defaults.
// Errc::invalid names all problems at once: values that should be numbers, and settings with which
// transformers would compute something else than our model.
[[nodiscard]] Result<Model> parse_config(std::string_view text);

// The config.json of a model whose row has a HubForm. `dtype` is the type of its weights, "float32"
// or "bfloat16". Settings of another config.json, `kept`, stay if they are not sizes of ours:
// special tokens, dropout. Without it, bos_token_id and eos_token_id are transformers' defaults if
// the vocabulary has them, and otherwise null, because transformers would assume the defaults if
// the keys were absent.
[[nodiscard]] std::string encode_config(const Model& model,
                                        const char* dtype,
                                        std::string_view kept = "{}");

}  // namespace dts::train
