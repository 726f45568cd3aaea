# Jobs of several programs; each scenario of steps.py and roles.py says what it checks.
foreach(scenario preempted fails out_of_time stopped lost_node)
  dts_script_test(steps_${scenario} integration 600 steps ${scenario})
endforeach()
foreach(scenario preempted fails together alone here)
  dts_script_test(roles_${scenario} integration 600 roles ${scenario})
endforeach()
