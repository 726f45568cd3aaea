# --module NAME, in $dts_value.
if ! type module >/dev/null 2>&1; then
  echo "no module command: not in the job's environment, and this node has none in /etc/profile.d, LMOD_PKG or MODULESHOME" >&2
fi
module load "$dts_value"
