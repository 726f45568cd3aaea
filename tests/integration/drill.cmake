# Every fault of `dtsubmit drill` on a private Slurm of its own, on a job of a user's, and Ctrl-C.
foreach(scenario all job interrupt)
  dts_script_test(drill_${scenario} faults 1800 drill ${scenario})
endforeach()
# The simulator against a campaign of kills.
dts_script_test(fault_goodput faults 1200 fault_goodput)
dts_script_test(drill_broken integration 300 drill broken)
