// SPDX-License-Identifier: Apache-2.0
// Files of tokens, mapped into memory: binary, with or without the header of llm.c
// (https://github.com/karpathy/llm.c, llmc/dataloader.h), or text, where each byte is a token.
#pragma once

#include "core/base/result.hpp"
#include "core/train/data/mapped_file.hpp"
#include "core/train/data/samples.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dts::train {

// `automatic`: a file named *.bin has numbers of the size in its header or, without a header, of 16
// bits, or 32 if the vocabulary needs them. Any other file is text.
enum class TokenFormat { automatic, bytes, uint16, uint32 };

// "auto", "bytes", "uint16", "uint32".
[[nodiscard]] std::optional<TokenFormat> token_format_of(std::string_view word);

// The tokens of a file's content, as a view of it. `width` is their size in bytes if there is no
// header; 1 means text. Errc::invalid if a header does not fit the rest, or the length is not a
// multiple of the width. Pure; safe for any content.
[[nodiscard]] Result<Tokens> parse_tokens(std::string_view content, int width);

// Movable; thread-safe once open. The file must not be truncated (mapped_file.hpp).
class TokenFile {
 public:
  // Errc::not_found, Errc::io, and Errc::invalid as for parse_tokens().
  [[nodiscard]] static Result<TokenFile> open(const std::string& path,
                                              TokenFormat format,
                                              int vocabulary);

  [[nodiscard]] const Tokens& tokens() const { return tokens_; }

  // Errc::invalid names the first token in [begin, end) that is not below `vocabulary`.
  [[nodiscard]] Result<void> check_below(int vocabulary, std::size_t begin, std::size_t end) const;

 private:
  TokenFile(std::string path, MappedFile file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  MappedFile file_;
  Tokens tokens_;
};

}  // namespace dts::train
