// SPDX-License-Identifier: Apache-2.0
// The samples to train on and those to evaluate with. Images are read once per node and shared by
// its ranks; files of tokens are mapped by each rank.
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
  const char* unit = "images";  // what a sample is
  std::uint64_t hash = 0;       // XXH3 of the training samples used
  // XXH3 of all samples and labels that this rank was told to use: of its node's, or of a folder of
  // its own.
  std::uint64_t hash_of_all = 0;
  std::vector<TokenFile> files;  // that the samples are views of
};

// Where the samples are.
struct DataSource {
  Reads reads;
  // Of images the folder of their files, as their format has them. Of tokens a file, or a folder
  // with train.bin and val.bin.
  std::string path;
  std::string validation;  // a file of tokens; empty: the last tenth of the others
  TokenFormat format = TokenFormat::automatic;
  std::size_t limit_train = 0;  // samples; 0: all
};

// Collective. Errc::invalid for data that cannot be read or is malformed. Every rank then gets an
// error; only that of the lowest failed rank has a message.
[[nodiscard]] Result<SharedSamples> share_samples(Comm& comm, const DataSource& source);

}  // namespace dts::train
