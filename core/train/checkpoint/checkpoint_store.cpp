// SPDX-License-Identifier: Apache-2.0
#include "core/train/checkpoint/checkpoint_store.hpp"

#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/text/text.hpp"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>

namespace dts::train {
namespace {

constexpr std::string_view k_attempt = "attempt-";
constexpr std::string_view k_temporary = ".tmp.";

bool is_checkpoint_name(std::string_view name) {
  return name.starts_with(k_step_prefix) && name.size() >= 14 &&
         parse_number(name.substr(k_step_prefix.size())).has_value();
}

// Newest first.
Result<std::vector<std::string>> checkpoint_names(const std::string& folder) {
  DTS_ASSIGN(std::vector<std::string> names, read_folder(folder));
  std::erase_if(names, [](const std::string& name) { return !is_checkpoint_name(name); });
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a > b;
  });
  return names;
}

// The number of the attempt whose staging folder has this name.
std::optional<std::uint64_t> attempt_of(std::string_view name) {
  const auto end = name.find(k_temporary);
  if (!name.starts_with(k_attempt) || end == std::string_view::npos) return std::nullopt;
  return parse_number(name.substr(k_attempt.size(), end - k_attempt.size()));
}

// Leftovers of releases without staging folders: step-<n>.tmp.<random>.
bool is_old_temporary(std::string_view name) {
  return name.starts_with(k_step_prefix) && name.find(k_temporary) != std::string_view::npos;
}

Result<void> rename_to(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return fail_errno("cannot rename " + from);
  return {};
}

// ENOENT, or, on NFS, ESTALE if another machine removed the folder.
bool proves_removal(int error) {
  return error == ENOENT || error == ESTALE;
}

// The refusal if the folder's fence has a higher attempt number, otherwise empty.
Result<std::string> fenced(const StoreOptions& options) {
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

// Why training continues with other bits than on the machines that wrote the checkpoint.
std::string other_bits(const Manifest& manifest,
                       const Fingerprint& config,
                       const Fingerprint& numerics) {
  const auto there = manifest.config.find(k_instruction_set);
  const auto here = config.find(k_instruction_set);
  if (there != manifest.config.end() && here != config.end() && there->second != here->second)
    return fmt::format("was computed with {}, these ranks use {}", there->second, here->second);
  // Releases before 0.1.0 did not store it.
  if (manifest.numerics.empty()) return {};
  Fingerprint before = manifest.numerics;
  Fingerprint now = numerics;
  for (Fingerprint* const one : {&before, &now}) {
    one->emplace(k_precision, "fp32");
    one->emplace(k_device, "cpu");
  }
  const std::string what = differences(before, now);
  return what.empty() ? what : "was computed elsewhere (" + what + ")";
}

}  // namespace

std::string checkpoint_name(std::uint64_t step) {
  return fmt::format("{}{:09}", k_step_prefix, step);
}

Result<std::string> refusal(const StoreOptions& options,
                            const std::string& staging,
                            const Error* error) {
  DTS_ASSIGN(std::string why, fenced(options));
  const bool gone = is_gone(staging) || (error != nullptr && error->code == Errc::not_found);
  if (!why.empty() || !gone || !exists(options.folder)) return why;
  return fmt::format(
      "a later start of this training has taken over {}; this is attempt {}, its checkpoint is not "
      "committed",
      options.folder,
      options.attempt);
}

CheckpointStore::CheckpointStore(StoreOptions options, const Layout& layout)
    : options_(std::move(options)), layout_(layout) {}

CheckpointStore::~CheckpointStore() {
  if (!staging_.empty()) (void)remove_all(staging_);  // if this fails, the next attempt does it
}

// Renames each folder in it as a whole, so that its owner can commit it either completely or not at
// all. The empty folder can then be removed, which ends the owner's right to write.
Result<void> CheckpointStore::seize(const std::string& name) {
  const std::string path = options_.folder + "/" + name;
  constexpr int k_most_turns = 1000;
  for (int turn = 0; turn < k_most_turns; ++turn) {
    for (const std::string& entry : list_folder(path)) {
      const std::string seized = staging_ + "/seized-" + random_hex(8);
      if (::rename((path + "/" + entry).c_str(), seized.c_str()) == 0)
        (void)remove_all(seized);  // if this fails, it goes with our staging folder
      else if (!proves_removal(errno))
        return fail_errno("cannot take " + path + "/" + entry + " from an earlier attempt");
    }
    if (::rmdir(path.c_str()) == 0 || proves_removal(errno)) return {};
    if (errno != ENOTEMPTY && errno != EEXIST) return fail_errno("cannot remove " + path);
  }
  return fail(Errc::io,
              "an earlier attempt keeps writing to " + path,
              "end its processes, then run this again");
}

Result<Commit> CheckpointStore::take_over() {
  DTS_ASSIGN(std::string why, fenced(options_));
  if (!why.empty()) return Commit{std::move(why)};
  staging_ = fmt::format(
      "{}/{}{}{}{}", options_.folder, k_attempt, options_.attempt, k_temporary, random_hex(8));
  if (::mkdir(staging_.c_str(), 0700) != 0) {
    const auto failed = fail_errno("cannot create folder " + staging_);
    staging_.clear();
    return failed;
  }
  // A later attempt raises the fence before it looks for staging folders: either it sees ours, or
  // we see its number here.
  DTS_ASSIGN(why, fenced(options_));
  if (!why.empty()) return Commit{std::move(why)};
  DTS_ASSIGN(const auto names, read_folder(options_.folder));
  for (const std::string& name : names) {
    const auto number = attempt_of(name);
    if (number && *number > options_.attempt)
      return Commit{fmt::format("attempt {} is writing to {}; this is attempt {}",
                                *number,
                                options_.folder,
                                options_.attempt)};
    if (number && options_.folder + "/" + name != staging_) DTS_TRY(seize(name));
    if (is_old_temporary(name)) (void)remove_all(options_.folder + "/" + name);
  }
  return Commit{};
}

Result<Loaded> CheckpointStore::find_newest(const Fingerprint& config,
                                            const Fingerprint& numerics,
                                            const Check& check) {
  Loaded loaded;
  bool is_unread = false;
  DTS_ASSIGN(const auto names, checkpoint_names(options_.folder));
  for (const std::string& name : names) {
    const std::string folder = options_.folder + "/" + name;
    // Checked before the tensors, which another model or optimiser does not have.
    if (const auto listed = read_manifest(folder))
      if (const std::string what = differences(listed->config, config); !what.empty())
        return fail(Errc::invalid,
                    fmt::format("{} is of another configuration: {}", folder, what),
                    "use the same options, or another --checkpoint-dir");
    if (const auto refused = refused_.find(name); refused != refused_.end()) {
      loaded.refusals.push_back(name + " refused: " + refused->second);
      continue;
    }
    const auto manifest = check(name);
    if (!manifest) {
      is_unread |= manifest.error().code == Errc::io;
      loaded.refusals.push_back(name + " refused: " + manifest.error().message);
      continue;
    }
    if (checkpoint_name(manifest->step) != name) {
      loaded.refusals.push_back(
          fmt::format("{} refused: its manifest is of step {}", name, manifest->step));
      continue;
    }
    loaded.name = name;
    loaded.digest = manifest->digest;
    whole_.insert(name);
    loaded.other_bits = other_bits(*manifest, config, numerics);
    return loaded;
  }
  // What cannot be read now may be whole: nothing may start over without it.
  if (is_unread)
    return fail(Errc::io,
                fmt::format("cannot read any checkpoint of {} now: {}",
                            options_.folder,
                            fmt::join(loaded.refusals, "; ")),
                "look at the file system; the training continues from them once they can be read");
  if (!loaded.refusals.empty() && !options_.begin_anew)
    return fail(Errc::invalid,
                fmt::format("no checkpoint can be loaded: all {} in {} are damaged; {}",
                            loaded.refusals.size(),
                            options_.folder,
                            fmt::join(loaded.refusals, "; ")),
                "put a good one there; to start over at step 0 remove them, or let dtsubmit do it "
                "with --on damaged=restart");
  return loaded;
}

void CheckpointStore::refuse(const Loaded& found, std::uint64_t digest) {
  refused_[found.name] = wrong_digest(digest, found.digest);
  whole_.erase(found.name);
}

Result<void> CheckpointStore::move_into_place(const Manifest& manifest) {
  const std::string name = checkpoint_name(manifest.step);
  const std::string staged = staging_ + "/" + name;
  const std::string final_path = options_.folder + "/" + name;
  DTS_TRY(write_file(staged + "/" + k_manifest_file, encode_manifest(manifest)));
  if (exists(final_path)) {
    const auto there = read_checkpoint(final_path, layout_, nullptr);
    if (there && there->digest == manifest.digest) return remove_all(staged);
    // A folder cannot be renamed onto another one. A damaged one is moved through our own staging
    // folder, so that only the attempt that may write can do this, too.
    DTS_TRY(rename_to(final_path, staging_ + "/replaced"));
  }
  DTS_TRY(rename_to(staged, final_path));
  (void)remove_all(staging_ + "/replaced");
  return sync_folder(options_.folder);
}

Result<Commit> CheckpointStore::commit(const Manifest& manifest) {
  DTS_ASSIGN(std::string why, refusal(options_, staging_));
  if (!why.empty()) return Commit{std::move(why)};
  const auto moved = move_into_place(manifest);
  if (!moved) {
    (void)remove_all(staging_ + "/" + checkpoint_name(manifest.step));
    DTS_ASSIGN(why, refusal(options_, staging_, &moved.error()));
    if (!why.empty()) return Commit{std::move(why)};
    return tl::unexpected(moved.error());
  }
  whole_.insert(checkpoint_name(manifest.step));
  prune();
  return Commit{};
}

bool CheckpointStore::is_whole(const std::string& name) {
  const std::string path = options_.folder + "/" + name;
  if (whole_.contains(name)) {
    // Hashed before: now check only what needs no reading, which detects truncated or removed
    // files.
    const auto manifest = read_manifest(path);
    return manifest &&
           std::all_of(manifest->files.begin(), manifest->files.end(), [&](const PartFile& file) {
             struct stat info {};

             return ::stat((path + "/" + file.name).c_str(), &info) == 0 &&
                    static_cast<std::uint64_t>(info.st_size) == file.bytes;
           });
  }
  const bool whole = read_checkpoint(path, layout_, nullptr).has_value();
  if (whole) whole_.insert(name);
  return whole;
}

void CheckpointStore::prune() {
  unsigned kept = 0;
  using Names = std::vector<std::string>;
  for (const std::string& name : checkpoint_names(options_.folder).value_or(Names())) {
    if (kept < options_.keep) {
      kept += is_whole(name) ? 1 : 0;
      continue;
    }
    // If this fails, the next save retries. Through the staging folder, so that it vanishes
    // completely, and only while we may write.
    if (::rename((options_.folder + "/" + name).c_str(), (staging_ + "/pruned").c_str()) == 0)
      (void)remove_all(staging_ + "/pruned");
    whole_.erase(name);
  }
}

}  // namespace dts::train
