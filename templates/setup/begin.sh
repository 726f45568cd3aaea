# Set-up of a node: run once by bash, before any rank's program. What it changes in the environment is kept.
dts_results=$1
dts_step=
set --
dts_failed() { # STATUS COMMAND WHERE
  trap - ERR EXIT
  printf 'failed\0%s\0%s\0%s\0%s\0' "$dts_step" "$2" "$3" "$1" >&"$dts_results"
  exit 1
}
# Not inherited by functions: what `module` and `conda` do inside is theirs.
trap 'dts_failed "$?" "$BASH_COMMAND" "${BASH_SOURCE[0]:+$BASH_SOURCE line $LINENO}"' ERR
trap 'dts_failed "$?" exit ""' EXIT
