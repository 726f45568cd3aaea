# --module NAME, in $dts_value. Shells that are not of a login have no `module` yet.
if ! type module >/dev/null 2>&1; then
  for dts_file in "${LMOD_PKG:-/usr/share/lmod/lmod}/init/bash" "${MODULESHOME:-/usr/share/modules}/init/bash" \
    /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh /etc/profile.d/modules.sh; do
    if [ -r "$dts_file" ]; then
      dts_source() { . "$1"; }
      dts_source "$dts_file" || true
      break
    fi
  done
fi
module load "$dts_value"
