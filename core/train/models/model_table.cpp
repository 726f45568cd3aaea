// SPDX-License-Identifier: Apache-2.0
#include "core/train/models/model_table.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dts::train {

extern const ModelRow k_cnn2;
extern const ModelRow k_mlp;
extern const ModelRow k_resnet;
extern const ModelRow k_gpt2;
extern const ModelRow k_llama;

namespace {

constexpr const ModelRow* k_models[] = {&k_cnn2, &k_mlp, &k_resnet, &k_gpt2, &k_llama};

template <class Row>
std::string names_of(std::span<const Row> rows) {
  std::string all;
  for (const Row& row : rows) all += (all.empty() ? "" : ", ") + std::string(row.name);
  return all;
}

Result<void> apply_size(const ModelRow& row, Sizes& sizes, std::string_view word) {
  const auto equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const auto value =
      equals == std::string_view::npos ? std::nullopt : parse_real(word.substr(equals + 1));
  if (value && sizes.set(key, *value)) return {};
  std::string known;
  for (const Size& size : row.sizes)
    known +=
        fmt::format("{}{} ({} to {})", known.empty() ? "" : ", ", size.key, size.least, size.most);
  return fail(Errc::usage,
              fmt::format("{}: '{}' is not valid", row.name, word),
              known.empty() ? fmt::format("{} has no sizes", row.name)
                            : fmt::format("sizes of {}: {}", row.name, known));
}

Result<void> apply_sizes(const ModelRow& row, Sizes& sizes, std::string_view words) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    DTS_TRY(apply_size(row, sizes, word));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return {};
}

Result<void> apply_preset(const ModelRow& row, Sizes& sizes, std::string_view name) {
  for (const Preset& preset : row.presets)
    if (name == preset.name) return apply_sizes(row, sizes, preset.sizes);
  return fail(Errc::usage,
              fmt::format("{} has no size '{}'", row.name, name),
              row.presets.empty() ? "" : "there are " + names_of(row.presets));
}

}  // namespace

Sizes::Sizes(std::span<const Size> sizes) : sizes_(sizes) {
  for (const Size& size : sizes) values_.emplace(size.key, size.standard);
}

bool Sizes::set(std::string_view key, double value) {
  const auto size =
      std::find_if(sizes_.begin(), sizes_.end(), [&](const Size& one) { return key == one.key; });
  if (size == sizes_.end() || !(value >= size->least && value <= size->most)) return false;
  if (std::trunc(size->least) == size->least && std::trunc(value) != value) return false;
  values_.find(key)->second = value;
  return true;
}

int Sizes::integer(const std::string& key) const {
  return static_cast<int>(values_.at(key));
}

double Sizes::real(const std::string& key) const {
  return values_.at(key);
}

std::string Sizes::text() const {
  std::string text;
  for (const Size& size : sizes_)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", size.key, values_.at(size.key));
  return text;
}

std::span<const ModelRow* const> model_table() {
  return k_models;
}

const ModelRow* find_model(std::string_view name) {
  for (const ModelRow* const row : k_models)
    if (name == row->name) return row;
  return nullptr;
}

Result<Sizes> parse_sizes(const ModelRow& row, std::string_view words) {
  Sizes sizes(row.sizes);
  DTS_TRY(apply_sizes(row, sizes, words));
  return sizes;
}

Result<Model> make_model(const ModelRow& row, const Sizes& sizes) {
  DTS_ASSIGN(Model model, row.make(sizes));
  if (model.layout.parameter_floats > k_most_parameters)
    return fail(Errc::usage,
                fmt::format("{} has {} parameters, at most {} are possible",
                            row.name,
                            model.layout.parameter_floats,
                            k_most_parameters),
                "choose smaller sizes");
  model.name = row.name;
  model.sizes = sizes.text();
  return model;
}

Result<Model> make_model(std::string_view words) {
  const std::string_view head = words.substr(0, words.find(','));
  const auto colon = head.find(':');
  const std::string_view name = head.substr(0, colon);
  const ModelRow* const row = find_model(name);
  if (row == nullptr) {
    std::string known;
    for (const ModelRow* const one : model_table())
      known += (known.empty() ? "" : ", ") + std::string(one->name);
    return fail(Errc::usage, fmt::format("unknown model '{}'", name), "there are " + known);
  }
  Sizes sizes(row->sizes);
  if (colon != std::string_view::npos) DTS_TRY(apply_preset(*row, sizes, head.substr(colon + 1)));
  DTS_TRY(apply_sizes(*row, sizes, words.substr(std::min(head.size() + 1, words.size()))));
  return make_model(*row, sizes);
}

void add_linear(Layout& layout, const std::string& name, int in, int out, int pixels) {
  layout.add_parameter({.name = name + ".weight",
                        .shape = {out, in},
                        .init = Init::fan_in_uniform,
                        .fan_in = in,
                        .pixels = pixels});
  layout.add_parameter({.name = name + ".bias", .shape = {out}});
}

void add_batch_norm(Layout& layout, const std::string& name, int channels, int pixels) {
  layout.add_parameter({.name = name + ".weight", .shape = {channels}, .init = Init::ones});
  layout.add_parameter({.name = name + ".bias", .shape = {channels}});
  layout.add_statistic({.name = name + ".running_mean", .shape = {channels}});
  layout.add_statistic({.name = name + ".running_var",
                        .shape = {channels},
                        .init = Init::ones,
                        .values_per_sample = pixels});
}

}  // namespace dts::train
