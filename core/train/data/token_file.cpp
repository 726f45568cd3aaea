// SPDX-License-Identifier: Apache-2.0
#include "core/train/data/token_file.hpp"

#include "core/base/text/names.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace dts::train {
namespace {

constexpr Names<TokenFormat, 4> k_formats{{{TokenFormat::automatic, "auto"},
                                           {TokenFormat::bytes, "bytes"},
                                           {TokenFormat::uint16, "uint16"},
                                           {TokenFormat::uint32, "uint32"}}};

// llm.c's header: 256 numbers of 32 bits, of which only the first three are used.
constexpr std::size_t k_header_bytes = 256 * sizeof(std::int32_t);

struct HeaderKind {
  std::int32_t magic;
  std::int32_t version;
  int width;
};

constexpr std::array<HeaderKind, 2> k_headers{{{20240520, 1, 2}, {20240801, 7, 4}}};

int width_of(TokenFormat format, const std::string& path, int vocabulary) {
  switch (format) {
    case TokenFormat::bytes:
      return 1;
    case TokenFormat::uint16:
      return 2;
    case TokenFormat::uint32:
      return 4;
    case TokenFormat::automatic:
      break;
  }
  return !path.ends_with(".bin") ? 1 : vocabulary > 65536 ? 4 : 2;
}

const std::byte* bytes_of(std::string_view content) {
  return reinterpret_cast<const std::byte*>(content.data());
}

Result<Tokens> parse_with_header(std::string_view content,
                                 const HeaderKind& kind,
                                 std::int32_t version,
                                 std::int32_t count) {
  if (version != kind.version)
    return fail(Errc::invalid,
                fmt::format("its header has version {}, not {}", version, kind.version));
  const std::string_view body = content.substr(k_header_bytes);
  const auto width = static_cast<std::size_t>(kind.width);
  if (count < 0 || static_cast<std::size_t>(count) * width != body.size())
    return fail(
        Errc::invalid,
        fmt::format(
            "{} bytes of tokens, its header says {} of {} bytes", body.size(), count, width),
        "it may have been cut off while it was copied");
  return Tokens{bytes_of(body), static_cast<std::size_t>(count), kind.width};
}

}  // namespace

std::optional<TokenFormat> token_format_of(std::string_view word) {
  return value_of(k_formats, word);
}

Result<Tokens> parse_tokens(std::string_view content, int width) {
  std::array<std::int32_t, 3> header{};
  if (width > 1 && content.size() >= k_header_bytes) {
    std::memcpy(header.data(), content.data(), sizeof header);
    for (const HeaderKind& kind : k_headers)
      if (header[0] == kind.magic) return parse_with_header(content, kind, header[1], header[2]);
  }
  const auto bytes = static_cast<std::size_t>(width);
  if (content.size() % bytes != 0)
    return fail(
        Errc::invalid,
        fmt::format("{} bytes are not a whole number of tokens of {} bytes", content.size(), width),
        "it may have been cut off, or have tokens of another width (--token-format)");
  return Tokens{bytes_of(content), content.size() / bytes, width};
}

Result<TokenFile> TokenFile::open(const std::string& path, TokenFormat format, int vocabulary) {
  DTS_ASSIGN(
      MappedFile file,
      MappedFile::open(path, "--data names a file of tokens or text, or a folder with train.bin"));
  TokenFile made(path, std::move(file));
  auto tokens = parse_tokens(made.file_.content(), width_of(format, path, vocabulary));
  if (!tokens) return tl::unexpected(std::move(tokens).error().during(path));
  made.tokens_ = *tokens;
  return made;
}

Result<void> TokenFile::check_below(int vocabulary, std::size_t begin, std::size_t end) const {
  const auto most = static_cast<std::uint32_t>(vocabulary);
  for (std::size_t i = begin; i < end; ++i)
    if (const std::uint32_t token = tokens_.at(i); token >= most)
      return fail(
          Errc::invalid,
          fmt::format(
              "{}: token {} is {}, the model's vocabulary has {}", path_, i, token, vocabulary),
          "the file is of another tokenizer, or of another width (--token-format)");
  return {};
}

}  // namespace dts::train
