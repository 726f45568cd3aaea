trap - ERR EXIT
unset -f dts_failed dts_source dts_conda dts_venv
printf 'done\0' >&"$dts_results"
command -p env -0 >&"$dts_results"
