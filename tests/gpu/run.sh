#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh OUT [BUILD]: all checks and benchmarks of --device cuda that this machine can run, in less than eight minutes, the build
# included: what has not begun by then is skipped. A table on standard output, OUT/checks.json and OUT/benches.json, and of these a page,
# OUT/index.html; OUT holds results alone, and what they take is in a temporary folder until the end. BUILD is a folder that the project was
# built in, or what bundle.sh made of one; without it, the project is built, or where MPI or oneDNN is missing the module and its own
# check alone. Exits with 77, and says why, where there is no card or no compiler for it.
# GPU_CHECKS_HOST=1 runs all of it with tiny sizes on the host's processor instead, from a BUILD with tests; its results say so.
# GPU_CHECKS_ARCH: what the module alone is compiled for, if not for the card that is here.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] || { echo "usage: run.sh OUT [BUILD]" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/gpu_checks.XXXXXX")
export GPU_CHECKS_SCRATCH="$scratch"
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

skip() {
  echo "skipped: $1"
  printf '{"skipped": "%s"}\n' "$1" >"$out/checks.json"
  exit 77
}

build_module() {
  mkdir -p "$build/bin" "$build/lib/dtsubmit"
  set -- plugins/cuda/module.cpp plugins/cuda/memory.cpp plugins/cuda/measure.cpp plugins/cuda/host_memory.cpp plugins/cuda/streams.cpp \
    plugins/cuda/graph.cpp plugins/cuda/products.cpp plugins/cuda/product_kernels.cpp plugins/cuda/launch.cu
  if echo '#include <nccl.h>' | nvcc -x cu -E - >/dev/null 2>&1; then set -- "$@" -DDTTRAIN_HAS_NCCL plugins/cuda/nccl.cpp; fi
  nvcc -std=c++20 -O3 -shared -Xcompiler=-fPIC,-fvisibility=hidden -arch="${GPU_CHECKS_ARCH:-native}" -I. "$@" "$(cublaslt_word)" -ldl \
    -o "$build/lib/dtsubmit/dttrain-cuda.so" &&
    c++ -std=c++20 -O2 -I. tests/gpu/device_check.cpp tests/gpu/device_cases.cpp tests/gpu/device_images.cpp \
      tests/gpu/device_products.cpp tests/gpu/device_link.cpp tests/support/host_device.cpp \
      tests/support/host_measuring.cpp tests/support/host_streams.cpp tests/support/host_products.cpp tests/support/host_exchange.cpp \
      core/train/accelerator/queue/queue.cpp core/train/accelerator/queue/streams.cpp -ldl -pthread -o "$build/bin/device_check"
}

fail_to_build() {
  tail -n 30 "$out/build.log"
  exit 1
}

export GPU_CHECKS_END="${GPU_CHECKS_END:-$(($(date +%s) + 470))}"
[ "${GPU_CHECKS_HOST:-0}" = 1 ] || [ -e /dev/nvidiactl ] || skip "no GPU: no /dev/nvidiactl"
command -v python3 >/dev/null || skip "no python3"
export GPU_CHECKS_LIBRARIES="${LD_LIBRARY_PATH-}"
# shellcheck source=tests/gpu/cuda_paths.sh disable=SC1091
. "$root/tests/gpu/cuda_paths.sh"
echo "found: $GPU_CHECKS_FOUND"
if [ $# -ge 2 ]; then
  build=$(cd "$2" && pwd)
  # Of bundle.sh.
  if [ -e "$build/environment.sh" ]; then
    export GPU_BUNDLE="$build"
    # shellcheck source=/dev/null
    . "$build/environment.sh"
  fi
else
  build=$scratch/build
  command -v nvcc >/dev/null || skip "no nvcc, and no BUILD was given"
  if ! { cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DDTSUBMIT_CUDA=ON &&
    cmake --build "$build" --target dttrain dttrain-cuda device_check device_profile -j "$(nproc)"; } >"$out/build.log" 2>&1; then
    echo "not the whole project, see $out/build.log: building the module and its check alone"
    (cd "$root" && build_module) >>"$out/build.log" 2>&1 || fail_to_build
  fi
fi
[ "${GPU_CHECKS_HOST:-0}" = 1 ] && echo "no card: the host's processor stands in, and no number says anything of a GPU"
failed=0
# What is right before how fast it is; a third of the time is kept for that.
GPU_CHECKS_END=$(($(date +%s) + (GPU_CHECKS_END - $(date +%s)) * 2 / 3)) python3 "$root/tests/gpu/checks.py" "$build" "$out" || failed=1
python3 "$root/tests/gpu/benches.py" "$build" "$out" || failed=1
python3 "$root/tests/gpu/page.py" "$out"
exit $failed
