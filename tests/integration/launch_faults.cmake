# Nodes that can run no rank, and ends that a launcher misreports; launch_faults.py says what.
dts_script_test(launch_faults_srun integration 300 launch_faults srun)
dts_script_test(launch_faults_mpirun integration 300 launch_faults mpirun)

# A launcher in the program, started once for each rank.
dts_script_test(launch_second_launcher integration 300 second_launcher local)
dts_script_test(launch_second_launcher_slurm integration 300 second_launcher slurm)
# slurmctld is away while a job starts.
dts_script_test(launch_without_controller integration 400 launch_without_controller)

# Nodes that run the site's Prolog when a launcher already waits for them.
dts_script_test(launch_slow_prolog integration 400 slow_prolog)
