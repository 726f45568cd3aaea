// SPDX-License-Identifier: Apache-2.0
// Encoding and checked decoding of manifests.
#include "core/train/checkpoint/checkpoint.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/hash.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <functional>
#include <optional>
#include <set>

namespace dts::train {
namespace {

using nlohmann::json;

constexpr const char* k_format = "dttrain-checkpoint-2";
constexpr const char* k_format_1 = "dttrain-checkpoint-1";
constexpr std::uint64_t k_manifest_limit = std::uint64_t{64} << 20;  // bytes

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

// Accepts only names in the checkpoint's own folder, nothing that leads out of it.
bool is_part_name(const std::string& name) {
  constexpr std::string_view k_letters = "abcdefghijklmnopqrstuvwxyz0123456789-.";
  return name.starts_with("state") && name.ends_with(".safetensors") &&
         name.find_first_not_of(k_letters) == std::string::npos;
}

Result<void> read_texts(const json& root, const char* name, Fingerprint& texts) {
  const json object = root.value(name, json());
  if (!object.is_object()) return fail(Errc::invalid, fmt::format("{} is missing", name));
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string())
      return fail(Errc::invalid, fmt::format("{}: {} is not a string", name, key));
    texts[key] = value.get<std::string>();
  }
  return {};
}

Result<PartFile> parse_file(const json& file) {
  if (!file.is_object()) return fail(Errc::invalid, "a file is not an object");
  const json name = file.value("name", json());
  if (!name.is_string() || !is_part_name(name.get<std::string>()))
    return fail(Errc::invalid, "a file's name is missing or not one of a state");
  const auto bytes = unsigned_member(file, "bytes");
  const auto hash = hex_member(file, "xxh3");
  if (!bytes || !hash)
    return fail(Errc::invalid,
                name.get<std::string>() + ": bytes or xxh3 is missing or not a number");
  return PartFile{name.get<std::string>(), *bytes, *hash};
}

}  // namespace

std::string encode_manifest(const Manifest& m) {
  json files = json::array();
  for (const PartFile& file : m.files)
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"xxh3", to_hex(file.hash)}});
  const json manifest = {{"format", m.order == ColumnOrder::pytorch ? k_format : k_format_1},
                         {"step", m.step},
                         {"samples_seen", m.samples_seen},
                         {"attempt", m.attempt},
                         {"digest", to_hex(m.digest)},
                         {"config", m.config},
                         {"skipped", m.skipped},
                         {"numerics", m.numerics},
                         {"files", std::move(files)}};
  return manifest.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

Result<Manifest> parse_manifest(std::string_view text) {
  const json root = json::parse(text, nullptr, false);
  if (!root.is_object()) return fail(Errc::invalid, "not a JSON object");
  const json format = root.value("format", json());
  if (format != k_format && format != k_format_1)
    return fail(Errc::invalid,
                fmt::format("neither of format {} nor {}", k_format, k_format_1),
                "it may be of a later dttrain");
  const auto step = unsigned_member(root, "step");
  const auto samples = unsigned_member(root, "samples_seen");
  const auto attempt = unsigned_member(root, "attempt");
  const auto digest = hex_member(root, "digest");
  if (!step || !samples || !attempt || !digest)
    return fail(Errc::invalid, "step, samples_seen, attempt or digest is missing or not a number");
  Manifest manifest{*step, *samples, *attempt, *digest, {}, {}};
  DTS_TRY(read_texts(root, "config", manifest.config));
  if (root.contains("numerics")) DTS_TRY(read_texts(root, "numerics", manifest.numerics));
  manifest.skipped = unsigned_member(root, "skipped").value_or(0);
  if (format == k_format_1) manifest.order = ColumnOrder::internal;
  const json files = root.value("files", json());
  if (!files.is_array() || files.empty()) return fail(Errc::invalid, "does not list files");
  for (const json& file : files) {
    DTS_ASSIGN(PartFile part, parse_file(file));
    manifest.files.push_back(std::move(part));
  }
  return manifest;
}

Result<Manifest> read_manifest(const std::string& folder) {
  DTS_ASSIGN(const std::string text, read_file(folder + "/" + k_manifest_file, k_manifest_limit));
  auto manifest = parse_manifest(text);
  if (!manifest) return tl::unexpected(std::move(manifest).error().during(k_manifest_file));
  return manifest;
}

namespace {

Result<UniqueFd> open_part(const std::string& folder, const PartFile& file) {
  const std::string path = folder + "/" + file.name;
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid()) return fail_errno("cannot read " + path);
  return fd;
}

Result<void> read_at(int fd, std::uint64_t offset, void* to, std::size_t bytes) {
  for (auto* at = static_cast<char*>(to); bytes > 0;) {
    const ssize_t n = ::pread(fd, at, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("cannot read it");
    if (n == 0) return fail(Errc::invalid, "it became shorter while it was read");
    at += n;
    offset += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
  return {};
}

// Reads the rows that contain the run, which is within `rows`, piece by piece.
Result<void> read_run(
    int fd, const StoredRows& stored, Range run, ColumnOrder order, State& state) {
  constexpr std::size_t k_piece = 1 << 18;  // floats
  const std::size_t width = stored.rows.row_floats();
  const std::size_t begin = stored.rows.range().begin;
  const std::size_t end = stored.rows.first + (run.end - begin + width - 1) / width;
  Rows rows = stored.rows;
  Buffer piece;
  for (rows.first += (run.begin - begin) / width; rows.first < end; rows.first += rows.count) {
    rows.count = std::min(std::max<std::size_t>(1, k_piece / width), end - rows.first);
    if (piece.size() < rows.floats()) piece = Buffer(rows.floats());
    DTS_TRY(read_at(fd,
                    stored.offset + (rows.range().begin - begin) * sizeof(float),
                    piece.data(),
                    rows.range().bytes()));
    copy_in(piece.data(), order, rows, state);
  }
  return {};
}

// Reads the wanted parts of the rows, or all rows if they are not of parameters.
Result<void> read_wanted(int fd,
                         const StoredRows& stored,
                         const std::vector<Range>& wanted,
                         ColumnOrder order,
                         State& state) {
  const Range all = stored.rows.range();
  const Rows::Array array = stored.rows.array;
  if (array != Rows::Array::weights && array != Rows::Array::momentum)
    return read_run(fd, stored, all, order, state);
  for (const Range run : common_runs(wanted, all)) DTS_TRY(read_run(fd, stored, run, order, state));
  return {};
}

}  // namespace

Result<Manifest> read_runs(const std::string& folder,
                           const Layout& layout,
                           const std::vector<Range>& wanted,
                           State& state) {
  DTS_ASSIGN(Manifest manifest, read_manifest(folder));
  Assembly assembly(layout, manifest.order, nullptr);
  for (const PartFile& file : manifest.files) {
    DTS_ASSIGN(const UniqueFd fd, open_part(folder, file));
    DTS_TRY(assembly.add_header(fd.get(), file));
  }
  DTS_TRY(assembly.complete());
  auto stored = assembly.stored().begin();
  for (std::size_t i = 0; i < manifest.files.size(); ++i) {  // opens one at a time: there are many
    DTS_ASSIGN(const UniqueFd fd, open_part(folder, manifest.files[i]));
    for (; stored != assembly.stored().end() && stored->file == i; ++stored)
      if (auto read = read_wanted(fd.get(), *stored, wanted, manifest.order, state); !read)
        return tl::unexpected(std::move(read).error().during(manifest.files[i].name));
  }
  state.step = manifest.step;
  state.skipped = manifest.skipped;
  return manifest;
}

namespace {

Result<Manifest> read_files(const std::string& folder,
                            const Layout& layout,
                            State* state,
                            const std::function<bool(std::size_t)>& is_read) {
  DTS_ASSIGN(Manifest manifest, read_manifest(folder));
  Assembly assembly(layout, manifest.order, state);
  for (std::size_t i = 0; i < manifest.files.size(); ++i) {
    const PartFile& file = manifest.files[i];
    DTS_ASSIGN(const UniqueFd fd, open_part(folder, file));
    DTS_TRY(is_read(i) ? assembly.add(fd.get(), file) : assembly.add_header(fd.get(), file));
  }
  DTS_TRY(assembly.complete());
  return manifest;
}

}  // namespace

Result<Manifest> check_share(const std::string& folder,
                             const Layout& layout,
                             int reader,
                             int readers) {
  const auto first = static_cast<std::size_t>(reader), step = static_cast<std::size_t>(readers);
  return read_files(folder, layout, nullptr, [&](std::size_t i) { return i % step == first; });
}

Result<Manifest> read_checkpoint(const std::string& folder, const Layout& layout, State* state) {
  DTS_ASSIGN(Manifest manifest,
             read_files(folder, layout, state, [](std::size_t) { return true; }));
  if (state == nullptr) return manifest;
  state->step = manifest.step;
  state->skipped = manifest.skipped;
  if (const std::uint64_t found = digest(*state); found != manifest.digest)
    return fail(Errc::invalid, wrong_digest(found, manifest.digest));
  return manifest;
}

std::string wrong_digest(std::uint64_t found, std::uint64_t said) {
  return fmt::format("state digest {}, manifest says {}", to_hex(found), to_hex(said));
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
