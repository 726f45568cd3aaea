# The frameworks' own programs as our ranks. PyTorch is Debian's and always tried; the others come
# from PyPI and have a label of their own: DTS_FRAMEWORKS_PYTHON=<venv>/bin/python ctest -L frameworks
function(dts_framework name label script)
  add_test(NAME frameworks_${name}
           COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/frameworks_${script}.py ${ARGN})
  set_tests_properties(frameworks_${name} PROPERTIES
    LABELS ${label} TIMEOUT 600 SKIP_RETURN_CODE 77 RUN_SERIAL ON
    ENVIRONMENT "DTSUBMIT=$<TARGET_FILE:dtsubmit>;DTTRAIN=$<TARGET_FILE:dttrain>;PYTHONDONTWRITEBYTECODE=1")
endfunction()

dts_framework(torch integration torch local)
dts_framework(torch_slurm integration torch slurm)
dts_framework(torch_slurm_srun integration torch slurm --launcher srun)
dts_framework(torchrun integration torch torchrun)
dts_framework(torchrun_srun integration torch torchrun --launcher srun)
dts_framework(openmp integration openmp)
dts_framework(tensorflow frameworks tensorflow local)
dts_framework(tensorflow_slurm frameworks tensorflow slurm)
dts_framework(jax frameworks jax local)
dts_framework(jax_slurm frameworks jax slurm)
dts_framework(jax_slurm_srun frameworks jax slurm --launcher srun)
foreach(library accelerate deepspeed horovod)
  dts_framework(${library} frameworks torch library ${library})
  dts_framework(${library}_srun frameworks torch library ${library} --launcher srun)
endforeach()
