# Job files and settings.
if(DTSUBMIT_SANITIZE)  # each start takes ten times as long: a part of them
  dts_script_test(job_file_saved cli 600 job_file saved 40)
  dts_script_test(job_file_schema cli 600 job_file schema 1)
else()
  dts_script_test(job_file_saved cli 300 job_file saved 300)
  dts_script_test(job_file_schema cli 300 job_file schema)
endif()
dts_script_test(job_file_slurm integration 200 job_file slurm)
