// SPDX-License-Identifier: Apache-2.0
#include "core/spec/gres.hpp"

#include "core/base/text/text.hpp"

namespace dts::spec {

GresItems split_gres(const std::string& text) {
  GresItems items;
  for (const std::string& item : split(text, ',')) {
    const std::string name = item.substr(0, item.find_first_of(":="));
    if (name == "none" || name.empty()) continue;
    if (name == "gpu" || name == "gres/gpu" || name == "gres:gpu")
      items.gpus.push_back(name.size() < item.size() ? item.substr(name.size() + 1) : "");
    else
      items.others.push_back(item);
  }
  return items;
}

}  // namespace dts::spec
