trap - ERR EXIT
case $(declare -f module) in
  *dts_init_modules*) unset -f module ml ;;
esac
unset -f dts_failed dts_init_file dts_profile_files dts_init_modules dts_source dts_conda dts_venv dts_stage
printf 'done\0' >&"$dts_results"
command -p env -0 >&"$dts_results"
