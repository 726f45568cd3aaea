// SPDX-License-Identifier: Apache-2.0
// config.json of Hugging Face's transformers. Pure; safe for any input.
#pragma once

#include "core/base/result.hpp"
#include "core/train/models/model_table.hpp"

#include <string>
#include <string_view>

namespace dts::train {

// The model that a config.json describes; what it leaves out has transformers' value. Errc::invalid
// names everything at once that is not a number where one belongs, or would make another model of
// it than ours.
[[nodiscard]] Result<Model> parse_config(std::string_view text);

// Of a model whose row has a HubForm. `dtype`: of the weights beside it, "float32" or "bfloat16".
// What another config.json, `kept`, says of what is no size of ours stays: tokens with a meaning,
// dropout. Without it, bos_token_id and eos_token_id are transformers' own if the vocabulary has
// them, otherwise null: transformers would take them anyway if nothing was said.
[[nodiscard]] std::string encode_config(const Model& model,
                                        const char* dtype,
                                        std::string_view kept = "{}");

}  // namespace dts::train
