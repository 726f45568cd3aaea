# This shell is not of a login and may have inherited no `module`: the site's own is found when it is first used.
dts_init_file() {
  local file
  for file in "${LMOD_PKG:-/usr/share/lmod/lmod}/init/bash" "${MODULESHOME:-/usr/share/modules}/init/bash"; do
    if [ -r "$file" ]; then
      dts_files=("$file")
      return
    fi
  done
}
# These also say where modules are. Others of the folder may load some.
dts_profile_files() {
  local file
  for file in /etc/profile.d/*mod*.sh; do
    case ${file##*/} in
      *default*) continue ;;
      *lmod* | *modules.sh | *modulepath*) if [ -r "$file" ]; then dts_files+=("$file"); fi ;;
    esac
  done
}
dts_source() { # an error of such a file, or a variable that it expects, is no failure
  local file=$1 options=$-
  set +eu
  . "$file"
  case $options in *e*) set -e ;; esac
  case $options in *u*) set -u ;; esac
}
dts_init_modules() {
  unset -f module ml
  local dts_file
  for dts_file in "${dts_files[@]}"; do dts_source "$dts_file" || true; done
  dts_files=()
}
dts_files=()
if ! type module >/dev/null 2>&1; then
  if [ -n "${MODULEPATH-}" ]; then dts_init_file; else dts_profile_files; fi
  if [ "${#dts_files[@]}" -eq 0 ]; then
    if [ -n "${MODULEPATH-}" ]; then dts_profile_files; else dts_init_file; fi
  fi
fi
if [ "${#dts_files[@]}" -gt 0 ]; then
  # `|| return`: not the end of a shell with `set -e`, which would hide the line that called it.
  module() { dts_init_modules && module "$@" || return; }
  ml() { dts_init_modules && ml "$@" || return; }
fi
