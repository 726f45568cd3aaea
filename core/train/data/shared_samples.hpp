// SPDX-License-Identifier: Apache-2.0
// The samples for training and evaluation. Images are read once per node and shared by its ranks;
// files of tokens are mapped by each rank.
#pragma once

#include "core/train/comm/comm.hpp"
#include "core/train/data/dataset.hpp"
#include "core/train/data/token_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::train {

struct SharedSamples {
  Samples train;
  Samples test;
  const char* unit = "images";  // what a sample is, for messages
  std::uint64_t hash = 0;       // XXH3 of the training samples that are used
  // XXH3 of all samples and labels that this rank was told to use: its node's, or, if its folder is
  // another one, that folder's.
  std::uint64_t hash_of_all = 0;
  std::vector<TokenFile> files;  // the files that the samples are views of
};

// Where to find the samples.
struct DataSource {
  Reads reads;
  // For images, the folder with the files of their format. For tokens, a file, or a folder with
  // train.bin and val.bin.
  std::string path;
  std::string validation;  // a file of tokens; empty: use the last tenth of `path`
  TokenFormat format = TokenFormat::automatic;
  std::size_t limit_train = 0;  // samples; 0: all
};

// Collective. Errc::invalid for data that cannot be read or is malformed. Every rank then gets an
// error, but only the error of the lowest failed rank has a message.
[[nodiscard]] Result<SharedSamples> share_samples(Comm& comm, const DataSource& source);

}  // namespace dts::train
