# Causes, budgets and what is done about them; each scenario of recovery.py says what it checks.
foreach(scenario successor elsewhere resubmit memory hang beats)
  dts_script_test(recovery_${scenario} integration 600 recovery ${scenario})
endforeach()
