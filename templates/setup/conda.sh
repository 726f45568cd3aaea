# --conda ENV, in $dts_value: conda, mamba or micromamba, whichever there is.
dts_conda() {
  if ! type conda >/dev/null 2>&1 && [ -x "${CONDA_EXE:-}" ]; then PATH=${CONDA_EXE%/*}:$PATH; fi
  local tool
  for tool in conda mamba; do
    if type "$tool" >/dev/null 2>&1; then
      eval "$("$tool" shell.bash hook)" && "$tool" activate "$1"
      return
    fi
  done
  if ! type micromamba >/dev/null 2>&1; then
    echo "no conda, mamba or micromamba in PATH, and no CONDA_EXE" >&2
    return 127
  fi
  eval "$(micromamba shell hook --shell bash)" && micromamba activate "$1"
}
dts_conda "$dts_value"
