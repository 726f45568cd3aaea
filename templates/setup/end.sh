trap - ERR EXIT
unset -f dts_failed dts_source dts_conda dts_venv dts_stage
printf 'done\0' >&"$dts_results"
command -p env -0 >&"$dts_results"
