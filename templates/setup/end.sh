trap - ERR EXIT
case $(declare -f module) in
  *dts_files*) unset -f module ;;
esac
unset -f dts_failed dts_module_files dts_source dts_conda dts_venv dts_stage
printf 'done\0' >&"$dts_results"
command -p env -0 >&"$dts_results"
