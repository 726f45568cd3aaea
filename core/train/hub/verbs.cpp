// SPDX-License-Identifier: Apache-2.0
#include "core/train/hub/verbs.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"
#include "core/train/checkpoint/checkpoint.hpp"
#include "core/train/hub/saved_model.hpp"
#include "core/train/hub/weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

namespace dts::train {
namespace {

constexpr std::uint64_t k_mib = std::uint64_t{1} << 20;

struct Words {
  std::vector<std::string> paths;
  HubWriting how;
};

const char* const k_hub_usage =
    "Usage: dttrain inspect FOLDER\n"
    "       dttrain export [options] CHECKPOINT FOLDER\n"
    "       dttrain convert [options] FOLDER FOLDER\n\n"
    "Folders are those of Hugging Face's transformers: config.json and *.safetensors.\n\n"
    "  --dtype TYPE             of the weights written: float32 or bfloat16 [float32]\n"
    "  --max-file-size MIB      of tensors in a file, before there are several [5120]\n"
    "  --config-of FOLDER       of export: keep what its config.json says besides the model\n";

bool set_dtype(HubWriting& how, const std::string& value) {
  how.is_bfloat16 = value == "bfloat16";
  return how.is_bfloat16 || value == "float32";
}

bool set_size(HubWriting& how, const std::string& value) {
  const auto mib = parse_number(value);
  how.most_bytes = mib.value_or(0) * k_mib;
  return mib && *mib > 0 && *mib < (std::uint64_t{1} << 32);
}

bool set_like(HubWriting& how, const std::string& value) {
  how.like = value;
  return exists(value + "/config.json");
}

using Setter = bool (*)(HubWriting& how, const std::string& value);

Setter setter_of(const std::string& name) {
  if (name == "--dtype") return set_dtype;
  if (name == "--max-file-size") return set_size;
  return name == "--config-of" ? set_like : nullptr;
}

Result<Words> parse(const std::vector<std::string>& words, std::size_t paths) {
  Words parsed;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (!name.starts_with("--")) {
      parsed.paths.push_back(words[i]);
      continue;
    }
    const bool has_value = name.size() < words[i].size();
    if (!has_value && i + 1 == words.size()) return fail(Errc::usage, name + " needs a value");
    const std::string value = has_value ? words[i].substr(name.size() + 1) : words[++i];
    const Setter set = setter_of(name);
    if (set == nullptr) return fail(Errc::usage, "unknown option " + name, k_hub_usage);
    if (!set(parsed.how, value))
      return fail(Errc::usage, fmt::format("{}: '{}' is not valid", name, value), k_hub_usage);
  }
  if (parsed.paths.size() != paths)
    return fail(
        Errc::usage, fmt::format("{} folders, not {}", parsed.paths.size(), paths), k_hub_usage);
  return parsed;
}

// `path` itself if it is a checkpoint, or the newest checkpoint in it.
Result<std::string> checkpoint_in(const std::string& path) {
  const auto found = checkpoints_in(path);
  if (!found.empty()) return found.rbegin()->second;
  // If its manifest cannot be read, it is still treated as a checkpoint, so that the error says so.
  if (exists(path + "/" + k_manifest_file)) return path;
  return fail(Errc::not_found,
              path + " is neither a checkpoint nor a folder with any",
              "a checkpoint is a folder step-<nnnnnnnnn> with manifest.json");
}

void print(const Model& model) {
  std::size_t parameters = 0;
  for (const Tensor& tensor : model.layout.parameters) parameters += tensor.count;
  fmt::print("model       {}\nsizes       {}\nparameters  {}\n\n",
             model.name,
             model.sizes.empty() ? "-" : model.sizes,
             parameters);
  for (const Tensor& tensor : model.layout.parameters)
    fmt::print("{:<56} [{}]\n", tensor.name, fmt::join(tensor.shape, ", "));
}

Result<void> inspect(const Words& words) {
  const std::string& path = words.paths[0];
  if (exists(path + "/config.json")) {
    DTS_ASSIGN(const Model model, read_hub_model(path));
    std::vector<float> weights(model.layout.parameter_floats);
    DTS_TRY(read_hub_weights(path, model, weights.data()));
    print(model);
    return {};
  }
  DTS_ASSIGN(const std::string checkpoint, checkpoint_in(path));
  DTS_ASSIGN(const SavedModel trained, model_of(checkpoint));
  DTS_TRY(read_checkpoint(checkpoint, trained.layout, nullptr));
  fmt::print("checkpoint  {}\nstep        {}\n", checkpoint, trained.manifest.step);
  for (const auto& [name, value] : trained.manifest.config)
    if (name != "model") fmt::print("{:<11} {}\n", name, value);
  print(trained.model);
  return {};
}

Result<void> export_checkpoint(const Words& words) {
  DTS_ASSIGN(const std::string checkpoint, checkpoint_in(words.paths[0]));
  DTS_ASSIGN(const SavedModel trained, model_of(checkpoint));
  State state(trained.layout);
  DTS_TRY(read_checkpoint(checkpoint, trained.layout, &state));
  return write_hub_folder(words.paths[1], trained.model, state.weights.data(), words.how);
}

Result<void> convert_folder(const Words& words) {
  DTS_ASSIGN(const Model model, read_hub_model(words.paths[0]));
  std::vector<float> weights(model.layout.parameter_floats);
  DTS_TRY(read_hub_weights(words.paths[0], model, weights.data()));
  HubWriting how = words.how;
  how.like = words.paths[0];
  return write_hub_folder(words.paths[1], model, weights.data(), how);
}

int run(const std::vector<std::string>& words,
        std::size_t paths,
        Result<void> (*verb)(const Words&)) {
  for (const std::string& word : words)
    if (word == "--help" || word == "-h") {
      std::fputs(k_hub_usage, stdout);
      return 0;
    }
  const auto parsed = parse(words, paths);
  const Result<void> done = parsed ? verb(*parsed) : tl::unexpected(parsed.error());
  if (done) return 0;
  const std::string& hint = done.error().hint;
  tell("dttrain: {}\n{}",
       done.error().message,
       hint.empty() ? "" : fmt::format("  help: {}\n", hint));
  return exit_code(done.error().code);
}

}  // namespace

int inspect_main(const std::vector<std::string>& words) {
  return run(words, 1, inspect);
}

int export_main(const std::vector<std::string>& words) {
  return run(words, 2, export_checkpoint);
}

int convert_main(const std::vector<std::string>& words) {
  return run(words, 2, convert_folder);
}

}  // namespace dts::train
