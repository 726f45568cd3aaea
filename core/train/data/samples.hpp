// SPDX-License-Identifier: Apache-2.0
// A view of the samples that a training reads. Pure, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dts::train {

// Properties of Fashion-MNIST:
inline constexpr int k_side = 28;
inline constexpr std::size_t k_pixels = std::size_t{k_side} * k_side;
inline constexpr int k_classes = 10;

// The format of images in files, with the mean and standard deviation of each channel over the
// training set, for values scaled to 0..1. Images are normalised by these.
struct ImageFormat {
  const char* name;
  int channels;
  int side;
  float mean[3];
  float deviation[3];

  [[nodiscard]] constexpr std::size_t pixels() const {  // including all channels
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(side) *
           static_cast<std::size_t>(side);
  }
};

inline constexpr ImageFormat k_fashion_mnist{"Fashion-MNIST", 1, k_side, {0.2860F}, {0.3530F}};
inline constexpr ImageFormat k_cifar10{
    "CIFAR-10", 3, 32, {0.4914F, 0.4822F, 0.4465F}, {0.2470F, 0.2435F, 0.2616F}};

// The input of a model: labelled images, or windows of tokens, where the label of each token is the
// next one.
struct Reads {
  enum class What { images, tokens };

  What what = What::images;
  int padding = 0;     // of images: width of the zeros around each, after normalisation
  int vocabulary = 0;  // of tokens: all are below it
  int context = 0;     // of tokens: number of tokens of a window
  const ImageFormat* format = &k_fashion_mnist;  // of images

  [[nodiscard]] int predictions() const { return what == What::tokens ? context : 1; }
};

// Unsigned numbers of 1, 2 or 4 bytes each, little-endian.
struct Tokens {
  const std::byte* data = nullptr;
  std::size_t count = 0;
  int width = 0;  // bytes

  [[nodiscard]] std::uint32_t at(std::size_t index) const {
    std::uint32_t token = 0;
    std::memcpy(
        &token, data + index * static_cast<std::size_t>(width), static_cast<std::size_t>(width));
    return token;
  }

  [[nodiscard]] Tokens from(std::size_t index) const {
    return {data + index * static_cast<std::size_t>(width), count - index, width};
  }
};

// Either images [count][channels][side][side], each with a label, or windows of tokens: window i
// begins at token i * context, and the label of each token is the token that follows it.
struct Samples {
  const std::uint8_t* images = nullptr;
  const std::uint8_t* labels = nullptr;
  std::size_t count = 0;
  Tokens tokens{};
  int context = 0;
  const ImageFormat* format = &k_fashion_mnist;

  // The first release dropped the tail of each epoch of images. That cannot change, because the
  // weights depend on it.
  [[nodiscard]] bool drops_tail() const { return images != nullptr; }
};

// Copies the tokens of the `index`-th window, and their labels; both are [context].
inline void read_window(const Samples& samples,
                        std::size_t index,
                        std::uint32_t* tokens,
                        std::uint32_t* labels) {
  const auto context = static_cast<std::size_t>(samples.context);
  const std::size_t begin = index * context;
  for (std::size_t t = 0; t < context; ++t) {
    tokens[t] = samples.tokens.at(begin + t);
    labels[t] = samples.tokens.at(begin + t + 1);
  }
}

}  // namespace dts::train
