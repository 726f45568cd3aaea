# `dtsubmit check` on a private Slurm: each scenario of check.py says what it checks.
foreach(scenario named trainer allocation)
  dts_script_test(check_${scenario} integration 600 check ${scenario})
endforeach()
dts_script_test(check_hosts integration 600 check_hosts hosts)
dts_script_test(check_faults faults 3600 check_hosts faults)
dts_script_test(check_alarms faults 14400 check alarms)
set_property(TEST check_hosts check_faults APPEND PROPERTY ENVIRONMENT "DTS_MOVED_CLOCK_LIBRARY=$<TARGET_FILE:moved_clock>")
