# Pre-flight, quarantine and spares; each scenario of nodes.py says what it checks.
dts_script_test(nodes_preflight_mpirun integration 600 nodes preflight mpirun)
dts_script_test(nodes_preflight_srun faults 600 nodes preflight srun)
dts_script_test(nodes_spare_mpirun integration 600 nodes spare mpirun)
dts_script_test(nodes_spare_srun faults 600 nodes spare srun)
dts_script_test(nodes_taken integration 600 nodes taken)
dts_script_test(nodes_corruption integration 600 nodes corruption)
dts_script_test(nodes_slurmd_lost faults 900 nodes slurmd_lost)
