# `dtsubmit plan`: its start is that of sbatch --test-only in many states of a queue, its cost what Slurm bills; both ways to Slurm.
dts_script_test(plan_start integration 600 plan)
dts_script_test(plan_cost integration 600 plan_cost)
# The CPUs of a node that ranks share.
dts_script_test(plan_cpus integration 300 node_cpus 0)
dts_script_test(plan_cpus_reserved integration 300 node_cpus 1)
dts_script_test(plan_cpus_whole integration 300 node_cpus whole)
dts_script_test(plan_limits integration 300 partition_limits limits)
dts_script_test(plan_limits_memory integration 300 partition_limits memory)
dts_script_test(plan_limits_several integration 120 partition_limits several)
dts_script_test(plan_limits_steps integration 120 partition_limits steps)
# What a site's own rules say about a job.
dts_script_test(plan_site_rules integration 120 site_rules)
# Nodes that are powered down until a job needs them.
dts_script_test(plan_cloud integration 400 cloud)
dts_script_test(plan_cloud_whole faults 600 cloud whole)
