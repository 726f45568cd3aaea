# This shell is not of a login and may have inherited no `module`: the site's own is found when it is first used.
dts_module_files() {
  local file
  if [ -n "${MODULEPATH-}" ]; then
    for file in "${LMOD_PKG:-/usr/share/lmod/lmod}/init/bash" "${MODULESHOME:-/usr/share/modules}/init/bash"; do
      if [ -r "$file" ]; then
        dts_files=("$file")
        return
      fi
    done
  fi
  # These also say where modules are.
  for file in /etc/profile.d/*mod*.sh; do
    if [ -r "$file" ]; then dts_files+=("$file"); fi
  done
}
dts_source() {
  local - # an error of such a file, or a variable that it expects, is no failure
  set +eu
  . "$1"
}
dts_files=()
if ! type module >/dev/null 2>&1; then dts_module_files; fi
if [ "${#dts_files[@]}" -gt 0 ]; then
  module() {
    unset -f module
    local dts_file
    for dts_file in "${dts_files[@]}"; do dts_source "$dts_file" || true; done
    module "$@" || return # not the end of a shell with `set -e`, which would hide the line that called it
  }
fi
