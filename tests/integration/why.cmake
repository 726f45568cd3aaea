# What `dtsubmit why` says of jobs of a private real Slurm; each scenario of why.py says what it checks.
foreach(scenario pending running killed cancelled agent_killed no_log_folder)
  dts_script_test(why_${scenario} integration 600 why ${scenario})
endforeach()

# Reservations: jobs that end with theirs, and jobs that wait for them or because of them.
dts_script_test(reservations integration 600 reservations)
