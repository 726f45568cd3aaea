// SPDX-License-Identifier: Apache-2.0
// What kind of image --container names. Pure, thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace dts::launch {

enum class ImageKind {
  folder,     // contains a root file system
  file,       // SIF, or another format that Apptainer reads
  squashfs,   // a root file system
  edf,        // an environment definition file, which names the image
  reference,  // a name in a registry: "nvcr.io/nvidia/pytorch:24.01-py3"
  other,      // any other source: "oras://..."
};

struct Image {
  ImageKind kind = ImageKind::reference;
  std::string name;  // the path, or the reference without "docker://"
};

// `is_folder`: whether `text` is the path of a folder.
[[nodiscard]] Image read_image(std::string_view text, bool is_folder);

// "a folder", "a SquashFS file", ...
[[nodiscard]] const char* to_words(ImageKind kind);

}  // namespace dts::launch
