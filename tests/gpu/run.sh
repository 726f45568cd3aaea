#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh OUT [BUILD]: all checks of --device cuda that this machine can run, as a table on standard output and as JSON in
# OUT/gpu.json. BUILD is a folder that the project was built in; without it, the project is built in OUT/build, or where MPI or
# oneDNN is missing the module and its own check alone. Exits with 77, and says why, where there is no card or no compiler for it.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] || { echo "usage: run.sh OUT [BUILD]" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)

skip() {
  echo "skipped: $1"
  printf '{"skipped": "%s"}\n' "$1" >"$out/gpu.json"
  exit 77
}

[ -e /dev/nvidiactl ] || skip "no GPU: no /dev/nvidiactl"
command -v python3 >/dev/null || skip "no python3"
export PATH="$PATH:/usr/local/cuda/bin"
if [ $# -ge 2 ]; then
  build=$(cd "$2" && pwd)
else
  build=$out/build
  command -v nvcc >/dev/null || skip "no nvcc, and no BUILD was given"
  if ! { cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DDTSUBMIT_CUDA=ON &&
    cmake --build "$build" --target dttrain dttrain-cuda device_check -j "$(nproc)"; } >"$out/build.log" 2>&1; then
    echo "not the whole project, see $out/build.log: building the module and its check alone"
    mkdir -p "$build/bin" "$build/lib/dtsubmit"
    cd "$root"
    nccl=
    if echo '#include <nccl.h>' | nvcc -x cu -E - >/dev/null 2>&1; then nccl="-DDTTRAIN_HAS_NCCL plugins/cuda/nccl.cpp"; fi
    # shellcheck disable=SC2086
    nvcc -std=c++20 -O3 -shared -Xcompiler=-fPIC,-fvisibility=hidden -arch=native -I. $nccl \
      plugins/cuda/module.cpp plugins/cuda/memory.cpp plugins/cuda/products.cpp plugins/cuda/launch.cu -lcublasLt -ldl \
      -o "$build/lib/dtsubmit/dttrain-cuda.so"
    c++ -std=c++20 -O2 -I. tests/gpu/device_check.cpp tests/gpu/device_cases.cpp tests/gpu/device_images.cpp tests/gpu/device_products.cpp tests/gpu/device_link.cpp \
      tests/support/host_device.cpp tests/support/host_exchange.cpp core/train/accelerator/queue.cpp -ldl -pthread \
      -o "$build/bin/device_check"
  fi
fi
exec python3 "$root/tests/gpu/checks.py" "$build" "$out"
