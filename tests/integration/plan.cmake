# `dtsubmit plan`: its start is that of sbatch --test-only in many states of a queue, its cost what Slurm bills; both ways to Slurm.
foreach(scenario start cost)
  dts_script_test(plan_${scenario} integration 600 plan ${scenario})
endforeach()
