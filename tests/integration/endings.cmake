# Ends that nobody planned, as those see them who follow the run; each scenario of endings.py says what it checks.
foreach(launcher mpirun srun)
  dts_script_test(endings_vanished_${launcher} integration 300 endings vanished ${launcher})
  dts_script_test(endings_memory_${launcher} integration 300 endings memory ${launcher})
endforeach()
foreach(scenario vanished_parts interrupted unwritten unwritten_parts queued damaged silent)
  dts_script_test(endings_${scenario} integration 300 endings ${scenario})
endforeach()
