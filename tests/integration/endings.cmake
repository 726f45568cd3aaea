# Ends that nobody planned, as those see them who follow the run; each scenario of endings.py says what it checks.
foreach(launcher mpirun srun)
  dts_script_test(endings_vanished_${launcher} integration 300 endings vanished ${launcher})
endforeach()
