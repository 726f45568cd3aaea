# Programs in containers, by Charliecloud; each scenario of container.py says what it checks.
foreach(scenario preempt train limits missing)
  dts_script_test(container_${scenario} integration 300 container ${scenario})
endforeach()
