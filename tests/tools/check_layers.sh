#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_layers.sh ROOT: fails on an #include that is no arrow of the design, and on a third-party header
# outside its one folder. The two tables below are the rules.
set -eu
. "$(dirname "$0")/sources.sh"
cd "$1"
sources . '*.cpp' '*.hpp' '*.h' '*.c' '*.cu' | grep -E '^(core|cli|plugins|tests)/' | xargs awk '
BEGIN {
  # From a folder to what it may include, besides itself.
  arrows["core/base"] = ""
  arrows["core/spec"] = "core/base/"
  arrows["core/topo"] = "core/base/"
  arrows["core/plan"] = "core/spec/ core/topo/topology.hpp core/topo/distance.hpp core/base/"
  arrows["core/script"] = "core/sched/ core/plan/ core/spec/ core/topo/topology.hpp core/base/"
  arrows["core/sched"] = "core/base/"
  arrows["core/run"] = "core/base/"
  arrows["core/cluster"] = "core/base/"
  arrows["core/reliability"] = "core/base/"
  arrows["core/train"] = "core/base/"
  arrows["core/plugin"] = "core/sched/ core/base/"
  arrows["core/launch"] = "core/script/ core/plan/ core/run/ core/sched/ core/plugin/ core/reliability/ core/topo/ core/spec/ core/base/"
  arrows["core/drill"] = "core/launch/ core/cluster/ core/plan/ core/run/ core/sched/ core/plugin/ core/spec/ core/base/"
  arrows["cli"] = "core/"
  arrows["plugins"] = "core/plugin/dtsubmit_plugin.h"
  arrows["tests"] = "core/ cli/ plugins/"
  # Third-party headers and the folders they stay in.
  homes["hwloc"] = "core/topo/"
  homes["slurm/"] = "plugins/slurm/"
  homes["CLI/"] = "cli/"
  homes["xxhash.h"] = "core/base/"
  homes["doctest/"] = "tests/"
  homes["mpi.h"] = homes["dnnl"] = homes["oneapi/"] = homes["zlib.h"] = homes["cu"] = homes["nccl"] = "core/train/"
  homes["tl/"] = "core/base/ plugins/"
  homes["fmt/"] = homes["nlohmann/"] = "core/ cli/ plugins/ tests/"
}
function bad(why) {
  printf "%s:%d: %s: %s\n", FILENAME, FNR, name, why
  wrong = 1
}
function starts_with_one_of(text, list,   i, n, words) {
  n = split(list, words, " ")
  for (i = 1; i <= n; ++i) if (index(text, words[i]) == 1) return 1
  return 0
}
FNR == 1 {
  split(FILENAME, part, "/")
  folder = part[1] == "core" ? part[1] "/" part[2] : part[1]
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
  split($0, quoted, "\""); name = quoted[2]
  if (name !~ "/") {  # made by the build
    if (name !~ /\.inc$/ && name != "version.hpp") bad("include by its full path from the root")
  } else if (!(folder in arrows)) bad(folder " is no folder of the design")
  else if (index(name, folder "/") != 1 && !starts_with_one_of(name, arrows[folder]))
    bad(folder " may include only itself" (arrows[folder] == "" ? "" : " and " arrows[folder]))
}
/^[ \t]*#[ \t]*include[ \t]*</ {
  split($0, angle, /[<>]/); name = angle[2]
  if (name ~ /^nlohmann\/json\.hpp/ && FILENAME !~ /\.cpp$/) bad("costs 2 s wherever a header drags it in: only in .cpp files")
  for (prefix in homes)
    if (index(name, prefix) == 1 && !(prefix == "cu" && name !~ /^(cuda|cublas|cudnn|curand)/)) {
      if (!starts_with_one_of(FILENAME, homes[prefix]) && FILENAME !~ /^tests\//) bad("belongs in " homes[prefix])
      next
    }
  if (name ~ "/" && name !~ /^(sys|linux|netinet|arpa|asm|net)\//) bad("a third-party header without a home: give it one in check_layers.sh")
}
END { exit wrong }
'
