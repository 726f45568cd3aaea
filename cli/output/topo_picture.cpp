// SPDX-License-Identifier: Apache-2.0
#include "cli/output/topo_picture.hpp"

#include "core/base/text/number_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace dts::cli {
namespace {

using Tone = Style::Tone;

constexpr std::size_t k_tall = 40;  // lines; taller pictures are drawn with runs if that helps

// How the boxes of one picture are arranged.
struct Arrangement {
  std::size_t packages = 1;  // side by side
  std::size_t numas = 1;     // of a package, side by side
  bool runs = false;         // of cores, instead of one cell each
  bool addresses = true;     // PCI addresses of devices
};

// Settings shared by all boxes of a picture.
struct Measures {
  std::size_t digits = 1;  // of the highest CPU
  std::size_t cell = 3;    // columns of a core
  std::size_t kind = 0;    // of the longest name of a kind; 0: all cores are alike
};

Style style_of(const Use& use) {
  if (use.closed || use.ranks.empty()) return {Tone::faint};
  if (use.everybody) return {Tone::bold};
  return {use.annex ? Tone::annex : Tone::home, use.ranks.front()};
}

template <class Visit>
void each_core(const Scene& scene, const Visit& visit) {
  for (const ScenePackage& package : scene.packages)
    for (const SceneNuma& numa : package.numas)
      for (const SceneCache& cache : numa.caches)
        for (const SceneCore& core : cache.cores) visit(core, cache);
}

Measures measure(const Scene& scene) {
  Measures measures;
  each_core(scene, [&](const SceneCore& core, const SceneCache& cache) {
    measures.digits = std::max(measures.digits, std::to_string(core.first_pu).size());
    measures.cell = std::max(measures.cell, mark(core.use).size() + (core.use.annex ? 0 : 2));
    measures.kind = std::max(measures.kind, cache.kind.size());
  });
  return measures;
}

class Painter {
 public:
  Painter(const Scene& scene, const Measures& measures, const Arrangement& arrangement)
      : scene_(scene), measures_(measures), arrangement_(arrangement) {}

  [[nodiscard]] Block paint(std::size_t columns) const {
    const std::size_t across = inside(columns, arrangement_.packages);
    std::vector<std::vector<Block>> numas;
    std::size_t width = 0;
    for (const ScenePackage& package : scene_.packages) {
      auto& blocks = numas.emplace_back();
      for (const SceneNuma& numa : package.numas) {
        blocks.push_back(paint(numa, inside(across, arrangement_.numas)));
        width = std::max(width, blocks.back().width());
      }
    }
    std::vector<Block> packages;
    for (std::size_t i = 0; i < numas.size(); ++i)
      packages.push_back(paint(scene_.packages[i], numas[i], width, across));
    std::vector<std::string> titles;
    for (const ScenePackage& package : scene_.packages) titles.push_back(package.title);
    Block all = boxes(packages, titles, arrangement_.packages, 0);
    const Block loose = extras(scene_.devices, scene_.memory, columns < 2 ? 0 : columns - 2);
    if (loose.lines.empty()) return all;
    return below(std::move(all),
                 framed(loose, "At no single package", all.width() < 2 ? 0 : all.width() - 2));
  }

 private:
  // The inner width of each of `count` boxes placed side by side.
  static std::size_t inside(std::size_t columns, std::size_t count) {
    const std::size_t share = (columns + 1) / count;
    return share < 4 ? 1 : share - 3;
  }

  // Boxes of equal width; only adjacent ones need the same height.
  static Block boxes(std::vector<Block> blocks,
                     const std::vector<std::string>& titles,
                     std::size_t columns,
                     std::size_t width) {
    std::size_t height = 0;
    for (const Block& block : blocks) {
      width = std::max(width, block.width());
      height = std::max(height, columns > 1 ? block.height() : 0);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i)
      blocks[i] = framed(blocks[i], titles[i], width, height);
    return grid(blocks, columns, 1);
  }

  [[nodiscard]] Block paint(const ScenePackage& package,
                            const std::vector<Block>& numas,
                            std::size_t width,
                            std::size_t columns) const {
    std::vector<std::string> titles;
    for (const SceneNuma& numa : package.numas) titles.push_back(numa.title);
    return below(boxes(numas, titles, arrangement_.numas, width),
                 extras(package.devices, package.memory, columns));
  }

  [[nodiscard]] Block extras(const std::vector<SceneDevice>& list,
                             const std::vector<std::string>& memory,
                             std::size_t columns) const {
    Block all = devices(list, columns);
    for (const std::string& line : memory) all = below(std::move(all), text(line));
    return all;
  }

  [[nodiscard]] Block paint(const SceneNuma& numa, std::size_t columns) const {
    std::vector<Block> caches;
    std::size_t widest = 1;
    for (const SceneCache& cache : numa.caches) {
      caches.push_back(arrangement_.runs ? runs(cache) : cells(cache, columns));
      widest = std::max(widest, caches.back().width());
    }
    const std::size_t most = std::max<std::size_t>(1, (columns + 1) / (widest + 1));
    Block all = grid(caches, even_columns(caches.size(), most), 1);
    return below(std::move(all), devices(numa.devices, columns));
  }

  // Each line starts with the number of its first CPU.
  [[nodiscard]] Block cells(const SceneCache& cache, std::size_t columns) const {
    const std::size_t frame = margin(cache, 0).width() + 2;
    const std::size_t room = columns > frame ? (columns - frame) / measures_.cell : 1;
    const std::size_t across = even_columns(cache.cores.size(), std::max<std::size_t>(room, 1));
    const std::size_t rows = (cache.cores.size() + across - 1) / across;
    Block all;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t first = row * across;
      Block line = beside(margin(cache, cache.cores[first].first_pu), edge(cache, row, rows, true));
      for (std::size_t i = first; i < std::min(first + across, cache.cores.size()); ++i)
        line = beside(std::move(line), cell(cache.cores[i].use));
      line.lines.front().resize(frame - 1 + across * measures_.cell);
      all = below(std::move(all), beside(std::move(line), edge(cache, row, rows, false)));
    }
    return all;
  }

  [[nodiscard]] Block margin(const SceneCache& cache, unsigned pu) const {
    const std::size_t width = measures_.kind > 0 ? measures_.kind + 1 : 0;
    return text(fmt::format("{:<{}}{:>{}}", cache.kind, width, pu, measures_.digits));
  }

  // One line of the bracket around the cores of an L3.
  [[nodiscard]] Block edge(const SceneCache& cache,
                           std::size_t row,
                           std::size_t rows,
                           bool left) const {
    if (!cache.l3) return glyphs(U" ");
    if (rows == 1) return glyphs(left ? U"[" : U"]");
    if (row == 0) return glyphs(left ? U"┌" : U"┐");
    if (row + 1 == rows) return glyphs(left ? U"└" : U"┘");
    return glyphs(U"│");
  }

  [[nodiscard]] Block cell(const Use& use) const {
    return text(fmt::format("{:^{}}", mark(use), measures_.cell), style_of(use));
  }

  // "0-15 r3", one line per run of cores used in the same way.
  [[nodiscard]] Block runs(const SceneCache& cache) const {
    Block all;
    for (std::size_t first = 0, end = 0; first < cache.cores.size(); first = end) {
      const Use& use = cache.cores[first].use;
      std::vector<unsigned> pus;
      for (; end < cache.cores.size() && cache.cores[end].use == use; ++end)
        pus.push_back(cache.cores[end].first_pu);
      std::sort(pus.begin(), pus.end());
      const std::string words = ranks_in_words(use);
      Block line = text(cache.kind + (cache.kind.empty() ? "" : " ") + fold_numbers(pus));
      line = beside(std::move(line),
                    text(use.annex ? "(" + words + ")" : " " + words + " ", style_of(use)),
                    1);
      all = below(std::move(all), line);
    }
    return all;
  }

  [[nodiscard]] Block devices(const std::vector<SceneDevice>& list, std::size_t columns) const {
    std::vector<Block> entries;
    std::size_t widest = 1;
    for (const SceneDevice& device : list) {
      entries.push_back(entry(device));
      widest = std::max(widest, entries.back().width());
    }
    const std::size_t most = std::max<std::size_t>(1, (columns + 2) / (widest + 2));
    return grid(entries, even_columns(entries.size(), most), 2);
  }

  [[nodiscard]] Block entry(const SceneDevice& device) const {
    const Block ranks = text(" " + ranks_in_words(device.use) + " ", style_of(device.use));
    Block all = beside(text(device.name), ranks, 1);
    return arrangement_.addresses ? beside(std::move(all), text(device.pci, {Tone::faint}), 1)
                                  : all;
  }

  const Scene& scene_;
  const Measures& measures_;
  const Arrangement& arrangement_;
};

// The lowest picture no wider than `columns`; ties prefer one with addresses, then one with fewer
// boxes per row. nullopt if none fits.
std::optional<Block> lowest(const Scene& scene,
                            const Measures& measures,
                            std::size_t columns,
                            bool runs) {
  std::size_t numas = 1;
  for (const ScenePackage& package : scene.packages) numas = std::max(numas, package.numas.size());
  std::optional<Block> best;
  for (const bool addresses : {true, false})
    for (std::size_t p = 1; p <= scene.packages.size(); ++p)
      for (std::size_t n = 1; n <= numas; ++n) {
        Block block = Painter(scene, measures, {p, n, runs, addresses}).paint(columns);
        if (block.width() <= columns && (!best || block.height() < best->height()))
          best = std::move(block);
      }
  return best;
}

}  // namespace

Block draw(const Scene& scene, std::size_t columns) {
  const Measures measures = measure(scene);
  auto best = lowest(scene, measures, columns, false);
  if (best && best->height() <= k_tall) return *best;
  auto shorter = lowest(scene, measures, columns, true);
  if (shorter && (!best || shorter->height() < best->height())) best = std::move(shorter);
  if (best) return *best;
  // No picture is narrow enough: print complete lines past the right edge.
  return Painter(scene, measures, {1, 1, false, false}).paint(columns);
}

Block legend(const Scene& scene, std::size_t columns) {
  bool home = false, annex = false, idle = false, closed = false, all = false, shared = false;
  bool l3 = false;
  unsigned threads = 1;
  each_core(scene, [&](const SceneCore& core, const SceneCache& cache) {
    const Use& use = core.use;
    home = home || (!use.ranks.empty() && !use.annex && !use.everybody);
    annex = annex || use.annex;
    idle = idle || (use.ranks.empty() && !use.closed);
    closed = closed || use.closed;
    all = all || use.everybody;
    shared = shared || (use.ranks.size() > 1 && !use.everybody);
    l3 = l3 || cache.l3;
    threads = std::max(threads, core.threads);
  });
  std::vector<std::string> notes{"each cell is a core; lines begin with their first CPU"};
  if (threads > 1) notes.back() += fmt::format(" (up to {} threads a core)", threads);
  if (home) notes.emplace_back("0 home of rank 0");
  if (annex) notes.emplace_back("(0) its annex");
  if (shared) notes.emplace_back("0+ shared by several");
  if (all) notes.emplace_back("* shared by all");
  if (idle) notes.emplace_back(". unused");
  if (closed) notes.emplace_back("x not allowed");
  if (l3) notes.emplace_back("[ ] an L3");
  Block lines;
  std::string line;
  for (const std::string& note : notes) {
    if (!line.empty() && line.size() + 2 + note.size() > columns) {
      lines = below(std::move(lines), text(line, {Tone::faint}));
      line.clear();
    }
    line += (line.empty() ? "" : "; ") + note;
  }
  return below(std::move(lines), text(line, {Tone::faint}));
}

}  // namespace dts::cli
