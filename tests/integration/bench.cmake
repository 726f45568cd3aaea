# The measurements of a check, on real ranks, with real faults; each script says what it checks. Those that compare speeds need the
# machine alone.
set(measures_parts shape faults_of_speed slow_disk)
foreach(name measures slow_link)
  add_test(NAME integration_bench_${name}
           COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/bench_${name}.py $<TARGET_FILE:dttrain> $<TARGET_FILE:moved_clock>
                   ${${name}_parts})
  set_tests_properties(integration_bench_${name} PROPERTIES
    LABELS "integration;measures" TIMEOUT 900 SKIP_RETURN_CODE 77 RUN_SERIAL ON ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endforeach()
add_test(NAME integration_bench_faults
         COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/bench_measures.py $<TARGET_FILE:dttrain> $<TARGET_FILE:moved_clock>
                 flipped_bits wrong_clock hanging_rank refusals)
set_tests_properties(integration_bench_faults PROPERTIES LABELS integration TIMEOUT 600 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
# No times of this machine: the stand-in's devices have clocks of their own.
add_test(NAME integration_bench_gpu
         COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/bench_gpu.py $<TARGET_FILE:dttrain> $<TARGET_FILE:host_device_module> $<TARGET_FILE:dtsubmit>)
set_tests_properties(integration_bench_gpu PROPERTIES LABELS integration TIMEOUT 300 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
