// SPDX-License-Identifier: Apache-2.0
// Writing, finding and pruning checkpoint folders.
#include "core/train/checkpoint/checkpoint_store.hpp"

#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/text/text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

namespace dts::train {
namespace {

constexpr std::string_view k_prefix = "step-";
constexpr std::string_view k_temporary = ".tmp.";

bool is_checkpoint_name(std::string_view name) {
  return name.starts_with(k_prefix) && name.size() >= 14 &&
         parse_number(name.substr(k_prefix.size())).has_value();
}

// Oldest first.
std::vector<std::string> checkpoint_names(const std::string& folder) {
  std::vector<std::string> names = list_folder(folder);
  std::erase_if(names, [](const std::string& name) { return !is_checkpoint_name(name); });
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return names;
}

void remove_temporary(const std::string& folder) {
  for (const std::string& name : list_folder(folder))
    if (name.starts_with(k_prefix) && name.find(k_temporary) != std::string::npos)
      (void)remove_all(folder + "/" + name);  // a leftover does no harm
}

// Empty, or the reason why attempt `ours` may no longer write to the folder.
Result<std::string> fence_refusal(const StoreOptions& options) {
  const std::string path = options.folder + "/fence";
  const auto text = read_file(path, 64);
  if (!text && text.error().code == Errc::not_found) return std::string();
  if (!text) return tl::unexpected(text.error());
  const auto newest = parse_number(trim(*text));
  if (!newest)
    return fail(Errc::invalid,
                path + ": not an attempt number",
                "remove the file if no attempt is running");
  if (*newest <= options.attempt) return std::string();
  return fmt::format(
      "attempt {} has taken over {}; this is attempt {}, its checkpoint is not committed",
      *newest,
      options.folder,
      options.attempt);
}

Result<Manifest> read_manifest(const std::string& path) {
  DTS_ASSIGN(const std::string text, read_file(path + "/" + k_manifest_file, 1 << 20));
  auto manifest = parse_manifest(text);
  if (!manifest) return tl::unexpected(std::move(manifest).error().during(k_manifest_file));
  return manifest;
}

Result<Manifest> read_checkpoint(const std::string& path, const Layout& layout, State& state) {
  DTS_ASSIGN(Manifest manifest, read_manifest(path));
  DTS_ASSIGN(const std::string bytes, read_file(path + "/" + k_state_file));
  DTS_TRY(decode_checkpoint(manifest, bytes, layout, state));
  return manifest;
}

Result<void> write_folder(const std::string& path,
                          const std::string& state,
                          const Manifest& manifest) {
  DTS_TRY(make_folders(path));
  DTS_TRY(write_file(path + "/" + k_state_file, state, 0600, Durability::deferred));
  DTS_TRY(write_file(
      path + "/" + k_manifest_file, encode_manifest(manifest), 0600, Durability::deferred));
  return sync_folder_tree(path);
}

Result<Commit> commit(const StoreOptions& options,
                      const std::string& temporary,
                      const std::string& final_path) {
  DTS_ASSIGN(std::string refusal, fence_refusal(options));
  if (!refusal.empty()) return Commit{std::move(refusal)};
  DTS_TRY(remove_all(
      final_path));  // one of this step that did not verify, or it would not be written again
  if (std::rename(temporary.c_str(), final_path.c_str()) != 0)
    return fail_errno("cannot rename " + temporary);
  DTS_TRY(sync_folder(options.folder));
  return Commit{};
}

void prune(const StoreOptions& options) {
  std::vector<std::string> names = checkpoint_names(options.folder);
  for (std::size_t i = 0; i + options.keep < names.size(); ++i)
    (void)remove_all(options.folder + "/" + names[i]);  // retried at the next save
}

bool already_there(const std::string& path, const Layout& layout, std::uint64_t expected_digest) {
  State there(layout);
  return exists(path) && read_checkpoint(path, layout, there) && digest(there) == expected_digest;
}

}  // namespace

std::string checkpoint_name(std::uint64_t step) {
  return fmt::format("{}{:09}", k_prefix, step);
}

Result<Commit> save_checkpoint(const StoreOptions& options,
                               const Layout& layout,
                               const State& state,
                               std::uint64_t samples_seen,
                               const Fingerprint& config) {
  const std::string final_path = options.folder + "/" + checkpoint_name(state.step);
  const std::string temporary = final_path + std::string(k_temporary) + random_hex(8);
  const std::string bytes = encode_state(layout, state);
  const Manifest manifest{state.step,
                          samples_seen,
                          options.attempt,
                          digest(state),
                          bytes.size(),
                          hash64(bytes),
                          config};
  DTS_ASSIGN(std::string refusal, fence_refusal(options));
  if (!refusal.empty()) return Commit{std::move(refusal)};
  if (already_there(final_path, layout, manifest.digest)) return Commit{};
  Result<Commit> result = Commit{};
  if (auto written = write_folder(temporary, bytes, manifest); !written)
    result = tl::unexpected(written.error());
  else
    result = commit(options, temporary, final_path);
  if (result && result->refusal.empty()) {
    prune(options);
    return result;
  }
  (void)remove_all(temporary);
  // A newer attempt removes our temporary folder: then report the fence, not the missing folder, as
  // the reason.
  if (auto fenced = fence_refusal(options); !result && fenced && !fenced->empty())
    return Commit{std::move(*fenced)};
  return result;
}

Result<Loaded> load_newest_checkpoint(const StoreOptions& options,
                                      const Layout& layout,
                                      const Fingerprint& config,
                                      State& state) {
  remove_temporary(options.folder);
  Loaded loaded;
  std::vector<std::string> names = checkpoint_names(options.folder);
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    State candidate(layout);
    const auto manifest = read_checkpoint(options.folder + "/" + *name, layout, candidate);
    if (!manifest) {
      loaded.refusals.push_back(*name + " refused: " + manifest.error().message);
      continue;
    }
    if (const std::string what = differences(manifest->config, config); !what.empty())
      return fail(Errc::invalid,
                  fmt::format("{}/{} is of another configuration: {}", options.folder, *name, what),
                  "use the same options, or another --checkpoint-dir");
    if (checkpoint_name(manifest->step) != *name) {
      loaded.refusals.push_back(
          fmt::format("{} refused: its manifest is of step {}", *name, manifest->step));
      continue;
    }
    state = std::move(candidate);
    loaded.name = *name;
    const auto there = manifest->config.find(k_instruction_set);
    const auto here = config.find(k_instruction_set);
    if (there != manifest->config.end() && here != config.end() && there->second != here->second)
      loaded.other_bits =
          fmt::format("was computed with {}, these ranks use {}", there->second, here->second);
    return loaded;
  }
  if (!loaded.refusals.empty() && !options.begin_anew)
    return fail(Errc::invalid,
                fmt::format("no checkpoint can be loaded: all {} in {} are damaged; {}",
                            loaded.refusals.size(),
                            options.folder,
                            fmt::join(loaded.refusals, "; ")),
                "put a good one there; to start over at step 0 remove them, or let dtsubmit do it "
                "with --on damaged=restart");
  return loaded;
}

}  // namespace dts::train
