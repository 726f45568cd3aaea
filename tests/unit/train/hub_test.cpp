// SPDX-License-Identifier: Apache-2.0
// Folders of Hugging Face's transformers: round trips, and errors.
#include "core/base/files/files.hpp"
#include "core/train/hub/config.hpp"
#include "core/train/hub/weights.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>

using namespace dts;
using namespace dts::train;
using nlohmann::json;

namespace {

const char* const k_gpt2_words = "gpt2,vocab_size=40,n_positions=9,n_embd=32,n_layer=1,n_head=2";

Model small() {
  return make_model(k_gpt2_words).value();
}

std::vector<float> weights_of(const Model& model) {
  std::vector<float> weights(model.layout.parameter_floats);
  initial_weights(model.layout, 5, weights.data());
  return weights;
}

std::string reasons_against(const json& config) {
  const auto model = parse_config(config.dump());
  if (model) return "";
  CHECK(model.error().code == Errc::invalid);
  return model.error().message;
}

// A safetensors file with these tensors, filled with zeros.
std::string tensors_file(const json& header, std::size_t bytes) {
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  std::string content(sizeof length, '\0');
  std::memcpy(content.data(), &length, sizeof length);
  return content + text + std::string(bytes, '\0');
}

}  // namespace

TEST_CASE("a config is read back as it was written, for each model that transformers knows") {
  for (const char* const words :
       {k_gpt2_words,
        "llama,vocab_size=40,hidden_size=32,intermediate_size=48,num_hidden_layers=1,"
        "num_attention_heads=2,num_key_value_heads=1,tie_word_embeddings=1,rope_theta=5e5"}) {
    const Model model = make_model(words).value();
    const auto again = parse_config(encode_config(model, "float32"));
    REQUIRE(again);
    CHECK(again->name == model.name);
    CHECK(again->sizes == model.sizes);
  }
}

TEST_CASE("what a config leaves out is as in transformers, and nulls are as nothing") {
  const auto gpt2 = parse_config(R"({"model_type":"gpt2","n_inner":null,"resid_pdrop":0.1})");
  REQUIRE(gpt2);
  CHECK(gpt2->sizes == make_model("gpt2")->sizes);
  const auto rotated = parse_config(
      R"({"model_type":"llama","num_hidden_layers":1,"rope_parameters":{"rope_theta":5e5,"rope_type":"default"}})");
  REQUIRE(rotated);
  CHECK(rotated->sizes.find("rope_theta=500000") != std::string::npos);
}

TEST_CASE("a config of something else is refused with all reasons") {
  CHECK(parse_config("[").error().message == "not a JSON object");
  CHECK(reasons_against({{"model_type", "bert"}}) ==
        "model_type \"bert\" is not one that dttrain has");
  CHECK(reasons_against({{"model_type", "cnn2"}}) ==
        "model_type \"cnn2\" is not one that dttrain has");
  CHECK(reasons_against({{"model_type", 3}}) == "model_type 3 is not one that dttrain has");
  CHECK(reasons_against({{"model_type", "gpt2"},
                         {"n_layer", "x"},
                         {"n_head", -1},
                         {"activation_function", "relu"}}) ==
        "n_layer is \"x\", it must be 0 to 1024; n_head is -1, it must be 1 to 1024; "
        "activation_function is \"relu\", dttrain has only \"gelu_new\"");
  CHECK(reasons_against({{"model_type", "llama"}, {"rope_scaling", {{"type", "linear"}}}})
            .find("rope_scaling is") == 0);
  CHECK(reasons_against({{"model_type", "gpt2"}, {"n_embd", 40}}).find("multiples of 16") !=
        std::string::npos);
}

TEST_CASE("weights come back from one file and from several, exactly or rounded to bfloat16") {
  const Model model = small();
  const std::vector<float> weights = weights_of(model);
  for (const std::uint64_t most : {std::uint64_t{1} << 30, std::uint64_t{8192}}) {
    const dts::tests::TemporaryFolder folder;
    const std::string path = folder.path + "/out";
    REQUIRE(write_hub_folder(path, model, weights.data(), {false, most}));
    CHECK(exists(path + "/model.safetensors") == (most > 8192));
    CHECK(exists(path + "/model.safetensors.index.json") == (most <= 8192));
    const auto again = read_hub_model(path);
    REQUIRE(again);
    std::vector<float> read(weights.size());
    REQUIRE(read_hub_weights(path, *again, read.data()));
    CHECK(read == weights);
    CHECK(write_hub_folder(path, model, weights.data(), {}).error().code == Errc::io);
    const std::string half = folder.path + "/half";
    REQUIRE(write_hub_folder(half, model, weights.data(), {true, most}));
    REQUIRE(read_hub_weights(half, model, read.data()));
    float worst = 0;
    for (std::size_t i = 0; i < read.size(); ++i)
      worst = std::max(worst, std::abs(read[i] - weights[i]) - std::abs(weights[i]) / 256);
    CHECK(worst <= 0);
    CHECK(read != weights);
  }
}

TEST_CASE("names without their prefix, masks and a repeated head are taken as they are meant") {
  const Model model = small();
  const dts::tests::TemporaryFolder folder;
  json header;
  std::size_t at = 0;
  const auto add =
      [&](std::string name, const std::vector<int>& shape, const char* type, std::size_t width) {
        std::size_t bytes = width;
        for (const int extent : shape) bytes *= static_cast<std::size_t>(extent);
        header[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {at, at + bytes}}};
        at += bytes;
      };
  for (const Tensor& tensor : model.layout.parameters)
    add(tensor.name.substr(12), tensor.shape, "F16", 2);
  add("h.0.attn.bias", {1, 1, 9, 9}, "BOOL", 1);
  add("lm_head.weight", {40, 32}, "F16", 2);
  REQUIRE(write_file(folder.path + "/model.safetensors", tensors_file(header, at)));
  std::vector<float> read(model.layout.parameter_floats, 1.0F);
  CHECK(read_hub_weights(folder.path, model, read.data()));
  CHECK(read[0] == 0.0F);
}

TEST_CASE("files that do not fit the config, or are damaged, are refused by name") {
  const Model model = small();
  const dts::tests::TemporaryFolder folder;
  std::vector<float> weights = weights_of(model);
  const auto error = [&] {
    const auto read = read_hub_weights(folder.path, model, weights.data());
    return read ? std::string() : read.error().message;
  };
  const std::string file = folder.path + "/model.safetensors";
  CHECK(error().find("model.safetensors") != std::string::npos);  // absent
  REQUIRE(write_file(file, "abc"));
  CHECK(error() == file + ": shorter than the length of its header");
  REQUIRE(write_file(file, std::string("\xff\xff\xff\x3f\0\0\0\0", 8) + "{}"));
  CHECK(error() == file + ": its header of 1073741823 bytes does not fit");
  REQUIRE(write_file(
      file,
      tensors_file({{"a", {{"dtype", "F99"}, {"shape", {1}}, {"data_offsets", {0, 4}}}}}, 4)));
  CHECK(error() == file + ": tensor a: no dtype");
  REQUIRE(write_file(
      file,
      tensors_file({{"ln_f.bias", {{"dtype", "F32"}, {"shape", {31}}, {"data_offsets", {0, 124}}}},
                    {"other", {{"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {124, 128}}}}},
                   128)));
  CHECK(error().find(
            "ln_f.bias has the shape [31], config.json says [32]; other appears twice, or is "
            "not of this model; transformer.h.0.attn.c_attn.bias is missing; ") !=
        std::string::npos);
  CHECK(error().find(" more") != std::string::npos);
  REQUIRE(write_file(folder.path + "/model.safetensors.index.json",
                     R"({"weight_map":{"a":"../../etc/passwd"}})"));
  CHECK(error() == "model.safetensors.index.json: no file's name for a");
}
