// SPDX-License-Identifier: Apache-2.0
// The folder of checkpoints: step-000000200/{state*.safetensors,manifest.json}, each complete or
// absent, and attempt-<k>.tmp.<random>/, where attempt k prepares the next one.
//
// A checkpoint is committed by rename(2) from the attempt's own folder, which a later attempt
// removes before it reads anything (take_over). So the rename itself is the check of who may write:
// either it happens before the take-over, and the later attempt sees the checkpoint, or it fails.
// rename(2) and rmdir(2) are atomic in POSIX, and on NFS because the server carries them out: it
// knows the folder by its handle, which is dead after rmdir(2) whatever a client has cached,
// whereas a folder that was merely renamed would go on to work.
#pragma once

#include "core/train/checkpoint/checkpoint.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace dts::train {

struct StoreOptions {
  std::string folder;
  std::uint64_t attempt = 1;  // ours
  unsigned keep = 3;          // newest checkpoints kept
  bool begin_anew = false;    // at step 0 if every checkpoint is damaged
};

// The result of a commit. `refusal` is empty, or says who has taken over the folder.
struct Commit {
  std::string refusal;
};

struct Loaded {
  std::string name;                   // of the checkpoint used; empty if none
  std::vector<std::string> refusals;  // "step-000000200: why", newest first
  std::uint64_t digest = 0;           // of the state, as its manifest says
  std::string other_bits;             // why results will not be bit-identical; empty if they will
};

// "step-000000200".
[[nodiscard]] std::string checkpoint_name(std::uint64_t step);

// Who has taken over the folder, if its fence is higher or `staging`, our own folder in it, is
// gone; otherwise empty. `error`, if any, is what a write there met: Errc::not_found says that it
// is gone, even if this machine's view of the file system is older.
[[nodiscard]] Result<std::string> refusal(const StoreOptions& options,
                                          const std::string& staging,
                                          const Error* error = nullptr);

// Only rank 0 has one; others write files into staging(). Not thread-safe, but commit() may run in
// another thread.
class CheckpointStore {
 public:
  // `layout` must outlive the store.
  CheckpointStore(StoreOptions options, const Layout& layout);
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;
  ~CheckpointStore();  // removes staging()

  // Makes staging(), then ends the right to write of every attempt up to ours: what they have not
  // committed is removed. Refused if the folder's file `fence` has a higher attempt number, or a
  // higher attempt has a staging folder.
  [[nodiscard]] Result<Commit> take_over();

  [[nodiscard]] const std::string& folder() const { return options_.folder; }

  // Where the files of a checkpoint are written, in a folder named checkpoint_name(step).
  [[nodiscard]] const std::string& staging() const { return staging_; }

  // The newest checkpoint that verifies but for its digest, for which all of a state must be read
  // (read_runs()), and that was not refused. Errc::invalid if that checkpoint belongs to another
  // configuration (the error says what differs), or if all checkpoints are damaged and begin_anew
  // is not set. `numerics` is what these ranks compute with: a checkpoint of others is found, and
  // Loaded::other_bits says so. `check` verifies the files of a checkpoint, whose name it is given.
  using Check = std::function<Result<Manifest>(const std::string& name)>;
  [[nodiscard]] Result<Loaded> find_newest(const Fingerprint& config,
                                           const Fingerprint& numerics,
                                           const Check& check);

  // A checkpoint that find_newest() has found is damaged after all: its state's digest is this.
  void refuse(const Loaded& found, std::uint64_t digest);

  // Adds the manifest to the files in staging(), which must be synced, and makes the checkpoint
  // visible and durable. Then removes older ones beyond `keep` that verify: a damaged one does not
  // count, since nothing could be loaded from it. On an error or refusal the older checkpoints are
  // untouched. Errc::io for a full disk.
  [[nodiscard]] Result<Commit> commit(const Manifest& manifest);

 private:
  [[nodiscard]] Result<void> seize(const std::string& name);
  [[nodiscard]] Result<void> move_into_place(const Manifest& manifest);
  [[nodiscard]] bool is_whole(const std::string& name);
  void prune();

  StoreOptions options_;
  const Layout& layout_;
  std::string staging_;
  std::map<std::string, std::string> refused_;  // names, and why
  std::set<std::string> whole_;                 // names that this process has written or verified
};

}  // namespace dts::train
