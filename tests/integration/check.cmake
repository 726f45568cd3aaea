# `dtsubmit check` on a private Slurm: each scenario of check.py says what it checks.
foreach(scenario named trainer)
  dts_script_test(check_${scenario} integration 600 check ${scenario})
endforeach()
