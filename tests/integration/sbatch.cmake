# Options of sbatch, given to dtsubmit.
dts_script_test(sbatch_options_same integration 600 sbatch_options same 500)
dts_script_test(sbatch_options_passed integration 200 sbatch_options passed)
