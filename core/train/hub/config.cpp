// SPDX-License-Identifier: Apache-2.0
#include "core/train/hub/config.hpp"

#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace dts::train {
namespace {

using nlohmann::json;

Result<const ModelRow*> row_of(const json& config) {
  const json type = config.value("model_type", json());
  const ModelRow* const row =
      type.is_string() ? find_model(type.get_ref<const std::string&>()) : nullptr;
  if (row != nullptr && row->hub != nullptr) return row;
  std::string known;
  for (const ModelRow* const one : model_table())
    if (one->hub != nullptr) known += (known.empty() ? "" : ", ") + std::string(one->name);
  return fail(Errc::invalid,
              fmt::format("model_type {} is not one that dttrain has",
                          type.dump(-1, ' ', true, json::error_handler_t::replace)),
              "it has " + known);
}

// Accepts numbers, and true and false as 1 and 0; null means the same as no value.
void read_size(const json& config,
               const Size& size,
               Sizes& sizes,
               std::vector<std::string>& wrong) {
  const json value = config.value(size.key, json());
  if (value.is_null()) return;
  const bool is_usable = value.is_number() || value.is_boolean();
  const double number = value.is_boolean()  ? (value.get<bool>() ? 1 : 0)
                        : value.is_number() ? value.get<double>()
                                            : 0;
  if (!is_usable || !sizes.set(size.key, number))
    wrong.push_back(fmt::format("{} is {}, it must be {} to {}",
                                size.key,
                                value.dump(-1, ' ', true, json::error_handler_t::replace),
                                size.least,
                                size.most));
}

void check_fixed(const json& config, const HubForm::Fixed& fixed, std::vector<std::string>& wrong) {
  const json expected = json::parse(fixed.value);
  const auto found = config.find(fixed.key);
  if (found == config.end() || *found == expected) return;
  wrong.push_back(fmt::format("{} is {}, dttrain has only {}",
                              fixed.key,
                              found->dump(-1, ' ', true, json::error_handler_t::replace),
                              fixed.value));
}

// Since transformers 5, the base of rotations is in rope_parameters.
void flatten_rotations(json& config) {
  const json rotations = config.value("rope_parameters", json());
  if (!rotations.is_object()) return;
  if (rotations.contains("rope_theta")) config["rope_theta"] = rotations["rope_theta"];
  if (rotations.value("rope_type", json("default")) != "default")
    config["rope_scaling"] = rotations;
}

}  // namespace

Result<Model> parse_config(std::string_view text) {
  json config = json::parse(text, nullptr, false);
  if (!config.is_object()) return fail(Errc::invalid, "not a JSON object");
  DTS_ASSIGN(const ModelRow* const row, row_of(config));
  flatten_rotations(config);
  Sizes sizes(row->sizes);
  std::vector<std::string> wrong;
  for (const Size& size : row->sizes) read_size(config, size, sizes, wrong);
  for (const HubForm::Fixed& fixed : row->hub->fixed) check_fixed(config, fixed, wrong);
  if (!wrong.empty()) return fail(Errc::invalid, join(wrong, "; "));
  auto model = make_model(*row, sizes);
  if (!model) return fail(Errc::invalid, model.error().message);
  return model;
}

std::string encode_config(const Model& model, const char* dtype, std::string_view kept) {
  const ModelRow& row = *find_model(model.name);
  const Sizes sizes = parse_sizes(row, model.sizes).value();
  json config = json::parse(kept, nullptr, false);
  if (!config.is_object()) config = json::object();
  config.erase("dtype");  // transformers 5 writes it instead of torch_dtype
  config["architectures"] = {row.hub->architecture};
  config["model_type"] = row.name;
  config["torch_dtype"] = dtype;
  for (const HubForm::Fixed& fixed : row.hub->fixed) config[fixed.key] = json::parse(fixed.value);
  for (const Size& size : row.sizes) {
    const double value = sizes.real(size.key);
    if (size.least == 0 && size.most == 1)
      config[size.key] = value != 0;
    else if (size.least == 0 && value == 0 && size.standard == 0)
      config[size.key] = nullptr;  // derived from other sizes
    else if (std::trunc(size.least) == size.least)
      config[size.key] = static_cast<std::int64_t>(value);
    else
      config[size.key] = value;
  }
  for (const auto& [key, token] :
       {std::pair{"bos_token_id", row.hub->bos}, {"eos_token_id", row.hub->eos}})
    if (!config.contains(key))
      config[key] = token < sizes.integer("vocab_size") ? json(token) : json();
  return json_text(config);
}

}  // namespace dts::train
