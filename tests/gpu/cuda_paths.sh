# SPDX-License-Identifier: Apache-2.0
# Sourced by run.sh: makes what pip or an unpacked toolkit has installed of CUDA, which no loader knows of, known to compilers and programs,
# and sets GPU_CHECKS_FOUND, a line that says what there is.

folders_of() { # VARIABLE FOLDER...: those that exist go to the end of a list with colons
  list=$1
  shift
  for folder; do
    [ ! -d "$folder" ] || eval "export $list=\"\${$list:+\$$list:}\$folder\""
  done
}

folders_of PATH /usr/local/cuda/bin /usr/local/nvidia/bin
folders_of LD_LIBRARY_PATH /usr/local/nvidia/lib64  # a driver's, in containers
for pip in $(python3 -c 'import nvidia; print(*nvidia.__path__)' 2>/dev/null || true); do
  folders_of PATH "$pip"/*/bin
  folders_of LD_LIBRARY_PATH "$pip"/*/lib
  folders_of LIBRARY_PATH "$pip"/*/lib
  folders_of CPATH "$pip"/*/include
done
nvcc_release=
if command -v nvcc >/dev/null; then
  nvcc_release=$(nvcc --version | sed -n 's/.*, V\([0-9.]*\)$/\1/p')
  toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
  # Last, so that what has been chosen before stays.
  folders_of LD_LIBRARY_PATH "$toolkit/lib64"
fi

library_path() { # NAME...: where programs find the first of these that there is
  for name; do
    for folder in $(echo "${LD_LIBRARY_PATH-}" | tr ':' ' '); do
      for path in "$folder"/$name; do
        [ ! -e "$path" ] || { echo "$path"; return; }
      done
    done
    path=$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | awk -v name="$name" 'index($1, name) == 1 { print $NF; exit }')
    [ -z "$path" ] || { echo "$path"; return; }
  done
}

# That of nvcc, where there are several.
cublaslt=$(library_path ${nvcc_release:+"libcublasLt.so.${nvcc_release%%.*}"} 'libcublasLt.so.[0-9]*' libcublasLt.so)
nccl=$(library_path libnccl.so.2)
torch=$(python3 -c 'import importlib.metadata as all; print(all.version("torch"))' 2>/dev/null || true)
driver=$(sed -n 's/^NVRM version:.* \([0-9][0-9.]*[0-9]\)  .*/\1/p' /proc/driver/nvidia/version 2>/dev/null || true)
[ -n "$driver" ] || driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1 || true)
GPU_CHECKS_FOUND="nvcc ${nvcc_release:-none}, cuBLASLt ${cublaslt:-none}, NCCL ${nccl:-none}, PyTorch ${torch:-none}, driver ${driver:-none}"
export GPU_CHECKS_FOUND

cublaslt_word() { # what links with it: pip has no libcublasLt.so, only one with a number
  if echo 'int main() { return 0; }' | nvcc -x cu - -lcublasLt -o "$GPU_CHECKS_SCRATCH/links" 2>/dev/null; then
    echo -lcublasLt
  else
    echo "-l:${cublaslt##*/}"
  fi
}
