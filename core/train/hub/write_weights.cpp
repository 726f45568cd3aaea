// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/files.hpp"
#include "core/train/hub/config.hpp"
#include "core/train/hub/weights.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cstring>
#include <vector>

namespace dts::train {
namespace {

using nlohmann::json;
using Tensors = std::vector<const Tensor*>;

std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

void append_bytes(std::string& to, const float* values, std::size_t count, bool is_bfloat16) {
  if (!is_bfloat16) {
    to.append(reinterpret_cast<const char*>(values), count * sizeof(float));
    return;
  }
  const std::size_t at = to.size();
  to.resize(at + count * sizeof(std::uint16_t));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t rounded = to_bfloat16(values[i]);
    std::memcpy(to.data() + at + 2 * i, &rounded, sizeof rounded);
  }
}

std::string header_of(const Tensors& tensors, const HubWriting& how) {
  json header = {{"__metadata__", {{"format", "pt"}}}};
  std::size_t at = 0;
  for (const Tensor* const tensor : tensors) {
    const std::size_t end = at + tensor->count * (how.is_bfloat16 ? 2 : 4);
    header[tensor->name] = {{"dtype", how.is_bfloat16 ? "BF16" : "F32"},
                            {"shape", tensor->shape},
                            {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // keeps the tensors aligned
  return text;
}

Result<void> write_tensors(const std::string& path,
                           const Tensors& tensors,
                           const float* weights,
                           const HubWriting& how) {
  const std::string header = header_of(tensors, how);
  const std::uint64_t length = header.size();
  std::size_t bytes = sizeof length + header.size();
  for (const Tensor* const tensor : tensors) bytes += tensor->count * (how.is_bfloat16 ? 2 : 4);
  std::string content(sizeof length, '\0');
  content.reserve(bytes);  // may need most of the remaining memory: allocate once
  std::memcpy(content.data(), &length, sizeof length);
  content += header;
  for (const Tensor* const tensor : tensors)
    append_bytes(content, weights + tensor->offset, tensor->count, how.is_bfloat16);
  return write_file(path, content, 0644);
}

// The tensors of each file, in the order of the layout. No file is larger than the limit unless it
// has a single tensor.
std::vector<Tensors> shared_out(const Layout& layout, const HubWriting& how) {
  std::vector<Tensors> files(1);
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : layout.parameters) {
    const std::uint64_t own = tensor.count * (how.is_bfloat16 ? 2U : 4U);
    if (!files.back().empty() && bytes + own > how.most_bytes) {
      files.emplace_back();
      bytes = 0;
    }
    files.back().push_back(&tensor);
    bytes += own;
  }
  return files;
}

Result<std::string> config_of(const Model& model, const HubWriting& how) {
  const char* const dtype = how.is_bfloat16 ? "bfloat16" : "float32";
  if (how.like.empty()) return encode_config(model, dtype);
  DTS_ASSIGN(const std::string kept, read_file(how.like + "/config.json"));
  return encode_config(model, dtype, kept);
}

// Writes the files, and the index if there are several.
Result<void> write_weights(const std::string& folder,
                           const Layout& layout,
                           const float* weights,
                           const HubWriting& how) {
  const std::vector<Tensors> files = shared_out(layout, how);
  json map = json::object();
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name =
        files.size() == 1 ? "model.safetensors"
                          : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, files.size());
    DTS_TRY(write_tensors(folder + "/" + name, files[i], weights, how));
    for (const Tensor* const tensor : files[i]) {
      map[tensor->name] = name;
      bytes += tensor->count * (how.is_bfloat16 ? 2U : 4U);
    }
  }
  if (files.size() > 1) {
    const json index = {{"metadata", {{"total_size", bytes}}}, {"weight_map", map}};
    DTS_TRY(write_file(folder + "/model.safetensors.index.json", index.dump(2) + "\n", 0644));
  }
  return {};
}

}  // namespace

Result<void> write_hub_folder(const std::string& folder,
                              const Model& model,
                              const float* weights,
                              const HubWriting& how) {
  if (find_model(model.name)->hub == nullptr)
    return fail(Errc::usage,
                fmt::format("{} is not a model of Hugging Face's transformers", model.name),
                "its checkpoint's safetensors files can be read as they are");
  DTS_ASSIGN(const std::string config, config_of(model, how));
  DTS_TRY(make_folders(folder, 0755));
  if (exists(folder + "/config.json"))
    return fail(Errc::io, folder + " has a config.json already", "choose another folder");
  DTS_TRY(write_weights(folder, model.layout, weights, how));
  // Last, because a folder is not a model without it.
  return write_file(folder + "/config.json", config, 0644);
}

}  // namespace dts::train
