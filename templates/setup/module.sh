# --module NAME, in $dts_value.
if [ "${#dts_files[@]}" -gt 0 ]; then dts_init_modules; fi
if ! type module >/dev/null 2>&1; then
  echo "no module command: not in the job's environment, and this node has none in /etc/profile.d, LMOD_PKG or MODULESHOME" >&2
fi
module load "$dts_value"
