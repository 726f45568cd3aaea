// SPDX-License-Identifier: Apache-2.0
// Images: the first rank of each node reads, checks and publishes them. Tokens: every rank maps the
// files and checks a part of them.
#include "core/train/data/shared_samples.hpp"

#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace dts::train {
namespace {

struct Raw {
  RawSamples train;
  RawSamples test;
};

Result<void> read_files(const std::string& folder, const ImageFormat& format, Raw& raw) {
  const bool is_cifar = exists(folder + "/data_batch_1.bin");
  if (is_cifar && format.channels != k_cifar10.channels)
    return fail(Errc::invalid,
                fmt::format("{} has images of {}, the model reads those of {}",
                            folder,
                            k_cifar10.name,
                            format.name),
                "choose a model of 3x32x32 images, such as resnet:cifar20");
  if (&format == &k_cifar10) return read_cifar(folder, raw.train, raw.test);
  DTS_TRY(read_samples(folder, "train", raw.train));
  return read_samples(folder, "t10k", raw.test);
}

Result<void> read_both(const std::string& folder,
                       const ImageFormat& format,
                       std::size_t limit,
                       Raw& raw) {
  DTS_TRY(read_files(folder, format, raw));
  if (limit != 0) raw.train.view.count = std::min(raw.train.view.count, limit);
  return {};
}

// If any rank has an error, all ranks get one; only the lowest such rank has its text.
Result<void> share_error(Comm& comm, const Result<void>& mine) {
  const Verdict verdict = comm.agree(mine ? 0 : exit_code(Errc::invalid));
  if (verdict.code == 0) return {};
  if (verdict.rank == comm.rank())
    return fail(Errc::invalid, mine.error().message, mine.error().hint);
  return fail(Errc::invalid, "");
}

std::uint64_t hash_of_images(const Samples& samples, std::uint64_t seed) {
  return hash64(samples.images, samples.count * samples.format->pixels(), seed);
}

std::uint64_t hash_of(const Samples& samples, std::uint64_t seed) {
  return hash64(samples.labels, samples.count, hash_of_images(samples, seed));
}

std::uint64_t hash_of_all(const Samples& train, const Samples& test) {
  return hash_of(test, hash_of(train, 0));
}

// The folder of a rank that is not the first on its node is not read. But if it is another folder,
// by mistake, its hash must show that.
Result<std::uint64_t> hash_of_own(Comm& comm,
                                  const DataSource& source,
                                  const SharedSamples& shared) {
  const std::uint64_t name = hash64(source.path);
  std::vector<std::uint64_t> names(static_cast<std::size_t>(comm.size()), name);
  if (comm.size() > 1) comm.post_gather(&name, names.data(), sizeof name);
  comm.barrier();
  if (names[static_cast<std::size_t>(comm.node_root())] == name)
    return hash_of_all(shared.train, shared.test);
  Raw raw;
  DTS_TRY(read_both(source.path, *source.reads.format, source.limit_train, raw));
  return hash_of_all(raw.train.view, raw.test.view);
}

// Sets pointers to images, then labels, at `at`; copies them if `from` is given.
Samples place(std::byte*& at, std::size_t count, const ImageFormat& format, const Samples* from) {
  const std::size_t pixels = count * format.pixels();
  auto* const images = reinterpret_cast<std::uint8_t*>(at);
  std::uint8_t* const labels = images + pixels;
  if (from != nullptr) {
    std::memcpy(images, from->images, pixels);
    std::memcpy(labels, from->labels, count);
  }
  at += pixels + count;
  Samples placed{images, labels, count};
  placed.format = &format;
  return placed;
}

Result<SharedSamples> share_images(Comm& comm, const DataSource& source) {
  const ImageFormat& format = *source.reads.format;
  Raw raw;
  Result<void> read;
  if (comm.first_on_node()) read = read_both(source.path, format, source.limit_train, raw);
  DTS_TRY(share_error(comm, read));
  std::array<std::uint64_t, 3> header{raw.train.view.count, raw.test.view.count, 0};
  if (comm.rank() == 0) header[2] = hash_of_images(raw.train.view, 0);
  comm.broadcast(header.data(), sizeof header);
  if (comm.first_on_node() &&
      (header[0] != raw.train.view.count || header[1] != raw.test.view.count))
    read = fail(Errc::invalid,
                fmt::format("{} on this node differs from that on rank 0's node", source.path));
  DTS_TRY(share_error(comm, read));
  const auto memory = comm.node_memory((header[0] + header[1]) * (format.pixels() + 1));
  DTS_TRY(share_error(comm, memory ? Result<void>{} : tl::unexpected(memory.error())));
  std::byte* at = *memory;
  SharedSamples shared;
  shared.train = place(at, header[0], format, comm.first_on_node() ? &raw.train.view : nullptr);
  shared.test = place(at, header[1], format, comm.first_on_node() ? &raw.test.view : nullptr);
  shared.hash = header[2];
  comm.barrier();
  const auto own = hash_of_own(comm, source, shared);
  DTS_TRY(share_error(comm, own ? Result<void>{} : tl::unexpected(own.error())));
  shared.hash_of_all = *own;
  return shared;
}

// Moves the last tenth of the windows, at least one, to `rest`.
void split_off_tenth(Samples& windows, Samples& rest) {
  const std::size_t kept = windows.count - std::max<std::size_t>(1, windows.count / 10);
  rest = windows;
  rest.count = windows.count - kept;
  rest.tokens = windows.tokens.from(kept * static_cast<std::size_t>(windows.context));
  windows.count = kept;
}

Samples windows_of(const Tokens& tokens, int context) {
  Samples made;
  made.tokens = tokens;
  made.context = context;
  made.count = tokens.count == 0 ? 0 : (tokens.count - 1) / static_cast<std::size_t>(context);
  return made;
}

Result<TokenFile> open_tokens(const DataSource& source, const std::string& path) {
  return TokenFile::open(path, source.format, source.reads.vocabulary);
}

Result<void> read_windows(const DataSource& source, SharedSamples& shared) {
  const bool is_folder = exists(source.path + "/train.bin");
  const std::string train = is_folder ? source.path + "/train.bin" : source.path;
  const std::string test =
      source.validation.empty() && is_folder ? source.path + "/val.bin" : source.validation;
  DTS_ASSIGN(TokenFile file, open_tokens(source, train));
  shared.train = windows_of(file.tokens(), source.reads.context);
  shared.files.push_back(std::move(file));
  if (!test.empty()) {
    DTS_ASSIGN(TokenFile others, open_tokens(source, test));
    shared.test = windows_of(others.tokens(), source.reads.context);
    shared.files.push_back(std::move(others));
  } else if (shared.train.count > 1) {
    split_off_tenth(shared.train, shared.test);
  }
  if (shared.train.count == 0 || shared.test.count == 0)
    return fail(Errc::invalid,
                fmt::format("{}: {} tokens are too few for windows of {} and one to predict",
                            shared.train.count == 0 || test.empty() ? train : test,
                            shared.files.back().tokens().count,
                            source.reads.context),
                "train on more text, or with a shorter context");
  if (source.limit_train != 0)
    shared.train.count = std::min(shared.train.count, source.limit_train);
  return {};
}

std::uint64_t hash_of_tokens(const Samples& windows, std::uint64_t seed) {
  const std::size_t tokens = windows.count * static_cast<std::size_t>(windows.context) + 1;
  return hash64(windows.tokens.data, tokens * static_cast<std::size_t>(windows.tokens.width), seed);
}

// Each rank checks a part of the tokens of each file.
Result<void> check_vocabulary(Comm& comm, const SharedSamples& shared, int vocabulary) {
  for (const TokenFile& file : shared.files) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    const auto rank = static_cast<std::size_t>(comm.rank());
    const std::size_t count = file.tokens().count;
    DTS_TRY(file.check_below(vocabulary,
                             count / ranks * rank + count % ranks * rank / ranks,
                             count / ranks * (rank + 1) + count % ranks * (rank + 1) / ranks));
  }
  return {};
}

Result<SharedSamples> share_tokens(Comm& comm, const DataSource& source) {
  SharedSamples shared;
  shared.unit = "windows";
  DTS_TRY(share_error(comm, read_windows(source, shared)));
  shared.hash = hash_of_tokens(shared.train, 0);
  shared.hash_of_all = hash_of_tokens(shared.test, shared.hash);
  DTS_TRY(share_error(comm, check_vocabulary(comm, shared, source.reads.vocabulary)));
  return shared;
}

}  // namespace

Result<SharedSamples> share_samples(Comm& comm, const DataSource& source) {
  return source.reads.what == Reads::What::tokens ? share_tokens(comm, source)
                                                  : share_images(comm, source);
}

}  // namespace dts::train
