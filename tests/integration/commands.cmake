# A machine without libslurm: what is said, and the main job, orders and faults through Slurm's commands.
dts_script_test(commands_said integration 300 without_libslurm)
dts_script_test(commands_main_job integration 900 without_libslurm main_job preempt linuxproc)
dts_script_test(commands_stop integration 600 without_libslurm stop)
dts_script_test(commands_sweep integration 900 without_libslurm sweep orders)
dts_script_test(commands_lost_answers integration 300 without_libslurm lost_answers)
dts_script_test(commands_lost_orders integration 300 without_libslurm lost_orders)
dts_script_test(commands_why integration 600 without_libslurm why pending)
dts_script_test(commands_in_grace faults 600 without_libslurm in_grace 1)
