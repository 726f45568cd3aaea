// SPDX-License-Identifier: Apache-2.0
// One file of a checkpoint: a share of the state in the safetensors format
// (https://huggingface.co/docs/safetensors), that is, an 8-byte little-endian length of the header,
// the header in JSON, and row-major float32 tensors. Files of any size are written and read in
// pieces.
#pragma once

#include "core/base/result.hpp"
#include "core/train/checkpoint/tensor_header.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dts::train {

// A file as listed in the manifest.
struct PartFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;  // XXH3 of the whole file

  bool operator==(const PartFile&) const = default;
};

// "state.safetensors" for a single part, otherwise "state-00002-of-00004.safetensors".
[[nodiscard]] std::string part_name(int parts, int part);

// A copy of one share of the state at one step, and the file made from it. Not thread-safe, but
// write() may run in another thread between two calls of take().
class Snapshot {
 public:
  // The share is share_of(layout, parts, part). `layout` must outlive the snapshot.
  Snapshot(const Layout& layout, int parts, int part);

  // Copies the share; allocates memory only the first time. Omits the moments if `state` has none,
  // and the weights if it does not have all: put() adds them.
  void take(const State& state);

  // Copies the part of an array between two of its floats, whose values are given, as far as it is
  // in the share.
  void put(ArrayOf array, Range floats, const float* values);

  // Writes a new file and syncs it to the disk. Errc::io; Errc::not_found if its folder does not
  // exist; Errc::invalid, without a file, if a value is not finite.
  [[nodiscard]] Result<PartFile> write(const std::string& path) const;

 private:
  [[nodiscard]] Result<void> check_finite() const;

  std::string name_;
  std::vector<Rows> rows_;
  std::string header_;
  Buffer values_;
};

// Rows, and their place in a file.
struct StoredRows {
  Rows rows;
  std::size_t file = 0;      // index in the order of add()
  std::uint64_t offset = 0;  // in bytes, from the start of the file
};

// Reads a state from its files, in their order. If `state` is nullptr, it only verifies them.
class Assembly {
 public:
  Assembly(const Layout& layout, ColumnOrder order, State* state);

  // Reads the file from the start of the descriptor, in pieces of about 1 MiB. Errc::invalid if its
  // size, hash, header or tensors do not match the manifest and the layout, or are not finite;
  // Errc::io.
  [[nodiscard]] Result<void> add(int fd, const PartFile& file);

  // The same for only the size and the header.
  [[nodiscard]] Result<void> add_header(int fd, const PartFile& file);

  // Errc::invalid if a row of a tensor is in none of the files.
  [[nodiscard]] Result<void> complete() const;

  // The rows of the added files, in their order.
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
  std::map<std::string, Rows> next_;  // by name of tensor, from its first missing row on
};

}  // namespace dts::train
