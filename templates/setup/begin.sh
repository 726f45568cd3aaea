# Set-up of a node: run once by bash, before any rank's program. What it changes in the environment is kept.
dts_results=$1
dts_step=
set --
dts_failed() { # STATUS COMMAND FILE LINE
  trap - ERR EXIT
  set +eu
  local command=$2
  # `return` is what a function ended with, such as `module`; the line that called the function means more.
  case $command in
    return*)
      if [ -n "$3" ]; then
        command=$(command -p sed -n "$4{s/^[[:space:]]*//;p;}" "$3" 2>/dev/null)
      elif [ -n "${dts_line-}" ]; then # in the text of --setup, which begins there
        command=$(printf '%s\n' "$dts_value" | command -p sed -n "$(($4 - dts_line + 1)){s/^[[:space:]]*//;p;}" 2>/dev/null)
      else
        command=
      fi
      ;;
  esac
  printf 'failed\0%s\0%s\0%s\0%s\0' "$dts_step" "$command" "${3:+$3 line $4}" "$1" >&"$dts_results"
  exit 1
}
# Not inherited by functions: what `module` and `conda` do inside is theirs.
trap 'dts_failed "$?" "$BASH_COMMAND" "${BASH_SOURCE[0]-}" "$LINENO"' ERR
trap 'dts_failed "$?" exit "" ""' EXIT
