# Causes, budgets and what is done about them; each scenario of recovery.py says what it checks.
foreach(scenario successor elsewhere resubmit memory hang beats expedite rehearsal told)
  dts_script_test(recovery_${scenario} integration 600 recovery ${scenario})
endforeach()

# Again and again: a few times in the ordinary run, 200 times with the fault matrix.
dts_script_test(recovery_preempt_many integration 600 preempt_many 3)
dts_script_test(recovery_preempt_200 faults 14400 preempt_many 200)
dts_script_test(recovery_agent_cost faults 600 agent_cost)

# What happens in the grace time of a preemption differs between Slurm's releases.
dts_script_test(recovery_in_grace integration 600 in_grace 1)
dts_script_test(recovery_in_grace_mpirun faults 600 in_grace 1 mpirun)
dts_script_test(recovery_in_grace_10 faults 3600 in_grace 10)
