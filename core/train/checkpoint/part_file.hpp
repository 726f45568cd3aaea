// SPDX-License-Identifier: Apache-2.0
// One file of a checkpoint: a share of the state in the safetensors format
// (https://huggingface.co/docs/safetensors): little-endian 8-byte length of the header, the header
// in JSON, row-major float32 tensors. Files have any size; they are written and read in pieces.
#pragma once

#include "core/base/result.hpp"
#include "core/train/checkpoint/tensor_header.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dts::train {

// A file as the manifest lists it.
struct PartFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;  // XXH3 of the whole file

  bool operator==(const PartFile&) const = default;
};

// "state.safetensors" of one part, "state-00002-of-00004.safetensors" of several.
[[nodiscard]] std::string part_name(int parts, int part);

// A copy of one share of the state at one step, and the file that it becomes. Not thread-safe, but
// write() may run in another thread between two take().
class Snapshot {
 public:
  // The share is share_of(layout, parts, part). `layout` must outlive the snapshot.
  Snapshot(const Layout& layout, int parts, int part);

  // Copies the share; allocates the first time only. Without the moments if `state` has none, and
  // without the weights unless it has all: they follow by put().
  void take(const State& state);

  // Copies what the share has of an array between two of its floats, whose values are given.
  void put(ArrayOf array, Range floats, const float* values);

  // Writes a new file, synced to the disk. Errc::io, Errc::not_found without its folder,
  // Errc::invalid and no file if a value is not finite.
  [[nodiscard]] Result<PartFile> write(const std::string& path) const;

 private:
  [[nodiscard]] Result<void> check_finite() const;

  std::string name_;
  std::vector<Rows> rows_;
  std::string header_;
  Buffer values_;
};

// Rows, and where a file has them.
struct StoredRows {
  Rows rows;
  std::size_t file = 0;      // the how many-th that was added
  std::uint64_t offset = 0;  // bytes from its start
};

// Puts a state together from its files, in their order. If `state` is nullptr, it only verifies.
class Assembly {
 public:
  Assembly(const Layout& layout, ColumnOrder order, State* state);

  // Reads the file from the descriptor's start, in pieces of about 1 MiB. Errc::invalid if its
  // size, hash, header or tensors are not what the manifest and the layout say, or not finite;
  // Errc::io.
  [[nodiscard]] Result<void> add(int fd, const PartFile& file);

  // The same of its size and header alone.
  [[nodiscard]] Result<void> add_header(int fd, const PartFile& file);

  // Errc::invalid if a row of a tensor is in no file.
  [[nodiscard]] Result<void> complete() const;

  // Of the files added, in their order.
  [[nodiscard]] const std::vector<StoredRows>& stored() const { return stored_; }

 private:
  class Input;
  [[nodiscard]] static Result<Input> open(int fd, const PartFile& file);
  [[nodiscard]] Result<std::vector<Rows>> add_rows_of(Input& input);
  [[nodiscard]] Result<Rows> match(const TensorEntry& entry);
  [[nodiscard]] Result<void> add_contents(Input& input);
  [[nodiscard]] Result<void> add_rows(Input& input, Rows rows);

  ColumnOrder order_;
  State* state_;
  Buffer piece_;
  std::vector<StoredRows> stored_;
  std::size_t files_ = 0;
  std::map<std::string, Rows> next_;  // the tensors, from the first row that is still missing
};

}  // namespace dts::train
