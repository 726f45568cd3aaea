// SPDX-License-Identifier: Apache-2.0
// The folder of checkpoints. It has step-000000200/{state*.safetensors,manifest.json}, each
// complete or absent, and attempt-<k>.tmp.<random>/, where attempt k prepares the next one.
//
// A checkpoint is committed by rename(2) from the attempt's own folder, which a later attempt
// removes before it reads anything (take_over()). So the rename itself checks who may write: either
// it happens before the take-over, and the later attempt sees the checkpoint, or it fails.
// rename(2) and rmdir(2) are atomic in POSIX, and on NFS because the server executes them: it knows
// the folder by its handle, which is invalid after rmdir(2) whatever a client has cached, whereas a
// folder that was only renamed would still work.
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
  std::uint64_t attempt = 1;  // this attempt
  unsigned keep = 3;          // number of newest checkpoints to keep
  bool begin_anew = false;    // start at step 0 if every checkpoint is damaged
};

// The result of a commit. `refusal` is empty, or says which attempt has taken over the folder.
struct Commit {
  std::string refusal;
};

struct Loaded {
  std::string name;                   // of the checkpoint that is used; empty if none
  std::vector<std::string> refusals;  // "step-000000200: why", newest first
  std::uint64_t digest = 0;           // of the state, according to the manifest
  std::string other_bits;             // why results will not be bit-identical; otherwise empty
};

// "step-000000200".
[[nodiscard]] std::string checkpoint_name(std::uint64_t step);

// Says which attempt has taken over the folder, if its fence has a higher number or if `staging`,
// our own folder in it, is certainly gone; otherwise empty. `error` is the error of a write there,
// if any: Errc::not_found proves that it is gone, even if this machine's view of the file system is
// older.
[[nodiscard]] Result<std::string> refusal(const StoreOptions& options,
                                          const std::string& staging,
                                          const Error* error = nullptr);

// Only rank 0 has one; other ranks write files into staging(). Not thread-safe, but commit() may
// run in another thread.
class CheckpointStore {
 public:
  // `layout` must outlive the store.
  CheckpointStore(StoreOptions options, const Layout& layout);
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;
  ~CheckpointStore();  // removes staging()

  // Creates staging(), then ends the right of all earlier attempts to write, and removes what they
  // have not committed. Refused if the folder's file `fence` has a higher attempt number, or a
  // higher attempt has a staging folder.
  [[nodiscard]] Result<Commit> take_over();

  [[nodiscard]] const std::string& folder() const { return options_.folder; }

  // The files of a checkpoint are written here, in a folder named checkpoint_name(step).
  [[nodiscard]] const std::string& staging() const { return staging_; }

  // Returns the newest checkpoint that was not refused and passes all checks except the digest, for
  // which the whole state must be read (read_runs()). Errc::invalid if it belongs to another
  // configuration (the error says what differs), or if all checkpoints are damaged and begin_anew
  // is not set; Errc::io if the folder, or what may be a good checkpoint, cannot be read and there
  // is no other. `numerics` describes the machines of these ranks: a checkpoint from other machines
  // is accepted, and Loaded::other_bits says so. `check` verifies the files of the checkpoint of
  // the given name.
  using Check = std::function<Result<Manifest>(const std::string& name)>;
  [[nodiscard]] Result<Loaded> find_newest(const Fingerprint& config,
                                           const Fingerprint& numerics,
                                           const Check& check);

  // Refuses a checkpoint that find_newest() returned, because its state has this digest, a wrong
  // one.
  void refuse(const Loaded& found, std::uint64_t digest);

  // Adds the manifest to the files in staging(), which must be synced, and makes the checkpoint
  // visible and durable. Then removes older checkpoints, but keeps `keep` that verify; damaged ones
  // do not count, since nothing could be loaded from them. After an error or refusal the older
  // checkpoints are untouched. Errc::io for a full disk.
  [[nodiscard]] Result<Commit> commit(const Manifest& manifest);

 private:
  [[nodiscard]] Result<void> seize(const std::string& name);
  [[nodiscard]] Result<void> move_into_place(const Manifest& manifest);
  [[nodiscard]] bool is_whole(const std::string& name);
  void prune();

  StoreOptions options_;
  const Layout& layout_;
  std::string staging_;
  std::map<std::string, std::string> refused_;  // reasons by name
  std::set<std::string> whole_;                 // names; written or verified by this process
};

}  // namespace dts::train
