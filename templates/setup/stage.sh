# --stage SRC[:DST] ..., all of them at once.
dts_stage() { "$dts_program" stage --run "$DTSUBMIT_RUN_DIR" --folder "${DTSUBMIT_STAGE_DIR%/*}"; }
dts_stage
unset dts_program
