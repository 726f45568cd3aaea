// SPDX-License-Identifier: Apache-2.0
#include "core/train/hub/saved_model.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/train/models/model_table.hpp"
#include "core/train/optim/optimizer.hpp"

#include <string_view>

namespace dts::train {

std::map<std::uint64_t, std::string> checkpoints_in(const std::string& folder) {
  std::map<std::uint64_t, std::string> found;
  if (const auto manifest = read_manifest(folder)) found[manifest->step] = folder;
  for (const std::string& name : list_folder(folder)) {
    const std::string path = folder + "/" + name;
    if (!name.starts_with(k_step_prefix) || !exists(path + "/" + k_manifest_file)) continue;
    if (const auto step = parse_number(name.substr(k_step_prefix.size()))) found[*step] = path;
  }
  return found;
}

Result<SavedModel> model_of(const std::string& checkpoint) {
  auto manifest = read_manifest(checkpoint);
  if (!manifest) return tl::unexpected(std::move(manifest).error().during(checkpoint));
  Fingerprint& config = manifest->config;
  auto model = make_model(config["model"]);
  if (!model)
    return tl::unexpected(
        Error{Errc::invalid, model.error().message, model.error().hint}.during(checkpoint));
  Layout layout = model->layout;
  const std::string optimizer = config["optimizer"];
  if (const auto* const row = find_optimizer(optimizer.empty() ? "sgd" : optimizer))
    layout.moments = row->moments;
  const std::string ballast = config["ballast"];
  layout.add_ballast(
      static_cast<int>(parse_number(ballast.substr(0, ballast.find(' '))).value_or(0)));
  return SavedModel{*std::move(model), std::move(layout), *std::move(manifest)};
}

}  // namespace dts::train
