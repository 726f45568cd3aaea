// SPDX-License-Identifier: Apache-2.0
#include "core/launch/container/image.hpp"

namespace dts::launch {
namespace {

constexpr std::string_view k_docker_scheme = "docker://";

ImageKind kind_of_file(std::string_view path) {
  if (path.ends_with(".toml")) return ImageKind::edf;
  for (const std::string_view ending : {".sqsh", ".sqfs", ".squashfs"})
    if (path.ends_with(ending)) return ImageKind::squashfs;
  return ImageKind::file;
}

}  // namespace

Image read_image(std::string_view text, bool is_folder) {
  if (text.starts_with('/'))
    return {is_folder ? ImageKind::folder : kind_of_file(text), std::string(text)};
  if (text.starts_with(k_docker_scheme))
    return {ImageKind::reference, std::string(text.substr(k_docker_scheme.size()))};
  const bool has_scheme = text.find("://") != std::string_view::npos;
  return {has_scheme ? ImageKind::other : ImageKind::reference, std::string(text)};
}

const char* to_words(ImageKind kind) {
  switch (kind) {
    case ImageKind::folder:
      return "a folder";
    case ImageKind::file:
      return "a SIF file";
    case ImageKind::squashfs:
      return "a SquashFS file";
    case ImageKind::edf:
      return "an environment definition file";
    case ImageKind::reference:
      return "a name in a registry";
    case ImageKind::other:
      break;
  }
  return "an image of such a source";
}

}  // namespace dts::launch
