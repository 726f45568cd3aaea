// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/train/checkpoint/tensor_header.hpp"
#include "core/train/data/mapped_file.hpp"
#include "core/train/hub/config.hpp"
#include "core/train/hub/weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>

namespace dts::train {
namespace {

using nlohmann::json;

constexpr const char* k_single = "model.safetensors";
constexpr const char* k_index = "model.safetensors.index.json";
constexpr std::size_t k_text_limit = std::size_t{64} << 20;

// The files that the index names or, without an index, the single file.
Result<std::set<std::string>> files_of(const std::string& folder) {
  if (!exists(folder + "/" + k_index)) return std::set<std::string>{k_single};
  DTS_ASSIGN(const std::string text, read_file(folder + "/" + k_index, k_text_limit));
  const json index = json::parse(text, nullptr, false);
  const json map = index.is_object() ? index.value("weight_map", json()) : json();
  if (!map.is_object() || map.empty())
    return fail(Errc::invalid, fmt::format("{}: no weight_map", k_index));
  std::set<std::string> files;
  for (const auto& [tensor, file] : map.items()) {
    if (!file.is_string() || !is_safe_name(file.get_ref<const std::string&>()))
      return fail(Errc::invalid, fmt::format("{}: no file's name for {}", k_index, tensor));
    files.insert(file.get<std::string>());
  }
  return files;
}

float from_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (bits >> 10U) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13U);
  // Includes subnormal numbers, whose value is fraction * 2^-24.
  const float scaled = exponent == 0
                           ? static_cast<float>(fraction) * 0x1.0p-24F
                           : std::bit_cast<float>((exponent + 112U) << 23U | fraction << 13U);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
}

bool is_of_weights(const std::string& dtype) {
  return dtype == "F32" || dtype == "F16" || dtype == "BF16";
}

// Converts the `run` of numbers of that type.
void convert(const std::string& dtype, const char* from, Range run, float* to) {
  if (dtype == "F32") {
    std::memcpy(to, from + run.begin * sizeof(float), run.bytes());
    return;
  }
  for (std::size_t i = run.begin; i < run.end; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from + 2 * i, sizeof bits);
    *to++ = dtype == "F16" ? from_half(bits)
                           : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }
}

// Stores tensors at their places, and records what is wrong with them.
class Weights {
 public:
  Weights(const Model& model, const std::vector<Range>& wanted, float* weights)
      : form_(*find_model(model.name)->hub), wanted_(wanted), weights_(weights) {
    for (const Tensor& tensor : model.layout.parameters) missing_.emplace(tensor.name, &tensor);
  }

  void add(const TensorEntry& entry, const char* values) {
    if (is_ignored(entry.name)) return;
    auto found = missing_.find(entry.name);
    if (found == missing_.end()) found = missing_.find(form_.prefix + entry.name);
    if (found == missing_.end()) {
      if (form_.tied == nullptr || entry.name != form_.tied)
        wrong_.push_back(entry.name + " appears twice, or is not of this model");
      return;
    }
    const Tensor& tensor = *found->second;
    missing_.erase(found);
    if (!std::equal(entry.shape.begin(),
                    entry.shape.end(),
                    tensor.shape.begin(),
                    tensor.shape.end(),
                    [](std::size_t a, int b) { return a == static_cast<std::size_t>(b); }))
      wrong_.push_back(fmt::format("{} has the shape [{}], config.json says [{}]",
                                   entry.name,
                                   fmt::join(entry.shape, ", "),
                                   fmt::join(tensor.shape, ", ")));
    else if (!is_of_weights(entry.dtype))
      wrong_.push_back(fmt::format("{} is of type {}", entry.name, entry.dtype));
    else
      take(tensor, entry.dtype, values);
  }

  [[nodiscard]] Result<void> complete() {
    for (const auto& [name, tensor] : missing_) wrong_.push_back(name + " is missing");
    if (wrong_.empty()) return {};
    constexpr std::size_t k_most = 8;
    const std::size_t more = wrong_.size() - std::min(wrong_.size(), k_most);
    wrong_.resize(wrong_.size() - more);
    return fail(Errc::invalid,
                join(wrong_, "; ") + (more > 0 ? fmt::format("; and {} more", more) : ""),
                "the weights do not belong to this config.json");
  }

 private:
  // Stores the wanted parts of a tensor.
  void take(const Tensor& tensor, const std::string& dtype, const char* values) {
    const Range all{tensor.offset, tensor.offset + tensor.count};
    for (const Range part : common_runs(wanted_, all))
      convert(dtype,
              values,
              {part.begin - tensor.offset, part.end - tensor.offset},
              weights_ + part.begin);
  }

  [[nodiscard]] bool is_ignored(const std::string& name) const {
    return std::any_of(form_.ignored.begin(), form_.ignored.end(), [&](const char* end) {
      return name.ends_with(end);
    });
  }

  const HubForm& form_;
  const std::vector<Range>& wanted_;
  float* weights_;
  std::map<std::string, const Tensor*> missing_;
  std::vector<std::string> wrong_;
};

Result<void> add_file(std::string_view content, Weights& weights) {
  std::uint64_t length = 0;
  if (content.size() < sizeof length)
    return fail(Errc::invalid, "shorter than the length of its header");
  std::memcpy(&length, content.data(), sizeof length);
  content.remove_prefix(sizeof length);
  if (length > k_tensor_header_limit || length > content.size())
    return fail(Errc::invalid, fmt::format("its header of {} bytes does not fit", length));
  const std::string_view values = content.substr(length);
  DTS_ASSIGN(const std::vector<TensorEntry> entries,
             parse_tensor_header(content.substr(0, length), values.size()));
  for (const TensorEntry& entry : entries) weights.add(entry, values.data() + entry.begin);
  return {};
}

}  // namespace

Result<Model> read_hub_model(const std::string& folder) {
  const std::string path = folder + "/config.json";
  DTS_ASSIGN(const std::string text, read_file(path, k_text_limit));
  auto model = parse_config(text);
  if (!model) return tl::unexpected(std::move(model).error().during(path));
  return model;
}

Result<void> read_hub_weights(const std::string& folder, const Model& model, float* weights) {
  return read_hub_weights(folder, model, {{0, model.layout.parameter_floats}}, weights);
}

Result<void> read_hub_weights(const std::string& folder,
                              const Model& model,
                              const std::vector<Range>& wanted,
                              float* weights) {
  Weights all(model, wanted, weights);
  DTS_ASSIGN(const std::set<std::string> files, files_of(folder));
  for (const std::string& file : files) {
    const std::string path = folder + "/" + file;
    DTS_ASSIGN(const MappedFile mapped, MappedFile::open(path));
    auto added = add_file(mapped.content(), all);
    if (!added) return tl::unexpected(std::move(added).error().during(path));
  }
  auto complete = all.complete();
  if (!complete) return tl::unexpected(std::move(complete).error().during(folder));
  return {};
}

}  // namespace dts::train
