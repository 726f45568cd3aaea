# Job files and settings.
dts_script_test(job_file_saved cli 300 job_file saved 300)
dts_script_test(job_file_schema cli 300 job_file schema)
dts_script_test(job_file_slurm integration 200 job_file slurm)
