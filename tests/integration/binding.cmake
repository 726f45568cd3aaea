# Bindings read back from the kernel; each scenario of binding.py says what it checks.
dts_script_test(binding_openmp integration 600 binding openmp)
dts_script_test(binding_masks integration 600 binding masks)
dts_script_test(binding_leaked integration 600 binding leaked)
dts_script_test(binding_srun integration 600 binding cluster linuxproc srun)
dts_script_test(binding_mpirun integration 600 binding cluster cgroup mpirun)
dts_script_test(binding_cgroup_srun faults 600 binding cluster cgroup srun)
