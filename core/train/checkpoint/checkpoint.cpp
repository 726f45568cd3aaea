// SPDX-License-Identifier: Apache-2.0
// Encoding and checked decoding of checkpoints.
#include "core/train/checkpoint/checkpoint.hpp"

#include "core/base/hash.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cstring>
#include <optional>
#include <set>

namespace dts::train {
namespace {

using nlohmann::json;

constexpr const char* k_format = "dttrain-checkpoint-1";
constexpr std::size_t k_length_bytes = 8;
constexpr std::size_t k_header_limit = 1 << 20;

// One tensor of the file and the array it belongs to.
struct Entry {
  std::string name;
  const Tensor* tensor;
  std::size_t bytes;
};

struct Group {
  const char* prefix;
  const std::vector<Tensor>& tensors;
};

// Calls visit(entry, group index) for each tensor in file order.
template <class Visit>
void for_each_tensor(const Layout& layout, Visit visit) {
  const Group groups[] = {{"model.", layout.parameters},
                          {"momentum.", layout.parameters},
                          {"running.", layout.statistics}};
  for (int group = 0; group < 3; ++group)
    for (const Tensor& tensor : groups[group].tensors)
      visit(Entry{groups[group].prefix + tensor.name, &tensor, tensor.count * sizeof(float)},
            group);
}

const Buffer& array_of(const State& state, int group) {
  return group == 0 ? state.weights : group == 1 ? state.momentum : state.running;
}

Buffer& array_of(State& state, int group) {
  return group == 0 ? state.weights : group == 1 ? state.momentum : state.running;
}

std::optional<std::uint64_t> unsigned_member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::optional<std::uint64_t> hex_member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  const auto& text = found->get_ref<const std::string&>();
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  if (text.size() != 16 || stop != end || error != std::errc()) return std::nullopt;
  return value;
}

// The position of the tensor's bytes in `data`; an Error names the tensor.
Result<std::string_view> tensor_bytes(const json& header,
                                      const Entry& entry,
                                      std::string_view data) {
  const auto bad = [&](const char* what) {
    return fail(Errc::invalid, fmt::format("tensor {}: {}", entry.name, what));
  };
  const auto found = header.find(entry.name);
  if (found == header.end() || !found->is_object()) return bad("missing");
  if (found->value("dtype", json()) != "F32") return bad("not F32");
  if (found->value("shape", json()) != json(entry.tensor->shape)) return bad("another shape");
  const json offsets = found->value("data_offsets", json());
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    return bad("no data_offsets");
  const auto begin = offsets[0].get<std::uint64_t>();
  const auto end = offsets[1].get<std::uint64_t>();
  if (end > data.size() || begin > end || end - begin != entry.bytes)
    return bad("lies outside the file");
  return data.substr(begin, entry.bytes);
}

Result<json> parse_header(std::string_view bytes) {
  if (bytes.size() < k_length_bytes)
    return fail(Errc::invalid, "shorter than the length of its header");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > k_header_limit || length > bytes.size() - k_length_bytes)
    return fail(Errc::invalid, fmt::format("its header of {} bytes does not fit", length));
  json header = json::parse(bytes.substr(k_length_bytes, length), nullptr, false);
  if (!header.is_object()) return fail(Errc::invalid, "its header is not a JSON object");
  header["__bytes__"] = length + k_length_bytes;
  return header;
}

}  // namespace

std::string encode_state(const Layout& layout, const State& state) {
  json header = json::object();
  header["__metadata__"] = {{"format", k_format}, {"step", std::to_string(state.step)}};
  std::size_t at = 0;
  for_each_tensor(layout, [&](const Entry& entry, int) {
    header[entry.name] = {
        {"dtype", "F32"}, {"shape", entry.tensor->shape}, {"data_offsets", {at, at + entry.bytes}}};
    at += entry.bytes;
  });
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the tensors stay aligned
  const std::uint64_t length = text.size();
  std::string bytes(k_length_bytes, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes.reserve(k_length_bytes + length + at);
  bytes += text;
  for_each_tensor(layout, [&](const Entry& entry, int group) {
    const auto values = std::as_bytes(
        array_of(state, group).all().subspan(entry.tensor->offset, entry.tensor->count));
    const std::size_t size = bytes.size();
    bytes.resize(size + values.size());
    std::memcpy(bytes.data() + size, values.data(), values.size());
  });
  return bytes;
}

Result<void> decode_state(std::string_view bytes, const Layout& layout, State& state) {
  DTS_ASSIGN(const json header, parse_header(bytes));
  const std::string_view data = bytes.substr(header["__bytes__"].get<std::size_t>());
  Result<void> result;
  for_each_tensor(layout, [&](const Entry& entry, int group) {
    if (!result) return;
    const auto found = tensor_bytes(header, entry, data);
    if (!found)
      result = tl::unexpected(found.error());
    else
      std::memcpy(
          array_of(state, group).data() + entry.tensor->offset, found->data(), found->size());
  });
  return result;
}

std::string encode_manifest(const Manifest& m) {
  const json file = {{"name", k_state_file}, {"bytes", m.bytes}, {"xxh3", to_hex(m.hash)}};
  const json manifest = {{"format", k_format},
                         {"step", m.step},
                         {"samples_seen", m.samples_seen},
                         {"attempt", m.attempt},
                         {"digest", to_hex(m.digest)},
                         {"config", m.config},
                         {"files", json::array({file})}};
  return manifest.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

Result<Manifest> parse_manifest(std::string_view text) {
  const json root = json::parse(text, nullptr, false);
  if (!root.is_object()) return fail(Errc::invalid, "not a JSON object");
  if (root.value("format", json()) != k_format)
    return fail(Errc::invalid, fmt::format("not of format {}", k_format));
  const json files = root.value("files", json());
  if (!files.is_array() || files.size() != 1 || !files[0].is_object() ||
      files[0].value("name", json()) != k_state_file)
    return fail(Errc::invalid, fmt::format("does not list exactly {}", k_state_file));
  const auto step = unsigned_member(root, "step");
  const auto samples = unsigned_member(root, "samples_seen");
  const auto attempt = unsigned_member(root, "attempt");
  const auto digest = hex_member(root, "digest");
  const auto bytes = unsigned_member(files[0], "bytes");
  const auto hash = hex_member(files[0], "xxh3");
  if (!step || !samples || !attempt || !digest || !bytes || !hash)
    return fail(Errc::invalid,
                "step, samples_seen, attempt, digest, bytes or xxh3 is missing or not a number");
  Manifest manifest{*step, *samples, *attempt, *digest, *bytes, *hash, {}};
  const json config = root.value("config", json());
  if (!config.is_object()) return fail(Errc::invalid, "config is missing");
  for (const auto& [name, value] : config.items()) {
    if (!value.is_string())
      return fail(Errc::invalid, fmt::format("config: {} is not a string", name));
    manifest.config[name] = value.get<std::string>();
  }
  return manifest;
}

Result<void> decode_checkpoint(const Manifest& manifest,
                               std::string_view bytes,
                               const Layout& layout,
                               State& state) {
  if (bytes.size() != manifest.bytes)
    return fail(
        Errc::invalid,
        fmt::format("{}: {} bytes, manifest says {}", k_state_file, bytes.size(), manifest.bytes));
  if (const std::uint64_t hash = hash64(bytes); hash != manifest.hash)
    return fail(
        Errc::invalid,
        fmt::format(
            "{}: hash {}, manifest says {}", k_state_file, to_hex(hash), to_hex(manifest.hash)));
  auto decoded = decode_state(bytes, layout, state);
  if (!decoded) return tl::unexpected(std::move(decoded).error().during(k_state_file));
  state.step = manifest.step;
  if (const std::uint64_t found = digest(state); found != manifest.digest)
    return fail(
        Errc::invalid,
        fmt::format("state digest {}, manifest says {}", to_hex(found), to_hex(manifest.digest)));
  return {};
}

std::string differences(const Fingerprint& there, const Fingerprint& here) {
  std::set<std::string> names;
  for (const auto& [name, value] : there) names.insert(name);
  for (const auto& [name, value] : here) names.insert(name);
  const auto text = [](const Fingerprint& f, const std::string& name) {
    const auto found = f.find(name);
    return found == f.end() ? std::string("nothing") : found->second;
  };
  std::string out;
  for (const std::string& name : names)
    if (name != k_instruction_set && text(there, name) != text(here, name))
      out += fmt::format("{}{}: {} there, {} here",
                         out.empty() ? "" : "; ",
                         name,
                         text(there, name),
                         text(here, name));
  return out;
}

}  // namespace dts::train
