# The trainer under a real mpirun; each script says what it checks.
foreach(name layouts resume errors telemetry verify pytorch optimizers precision images transformers hub kills corruption agreement not_finite transports buckets zero rehearse async)
  add_test(NAME integration_trainer_${name}
           COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/trainer_${name}.py $<TARGET_FILE:dttrain>)
  set_tests_properties(integration_trainer_${name} PROPERTIES
    LABELS integration TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OTHER_ONEDNN=$<TARGET_FILE:other_onednn>")
endforeach()
# A device made of the host's processor.
foreach(name device device_exchange)
  add_test(NAME integration_trainer_${name}
           COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/trainer_${name}.py $<TARGET_FILE:dttrain> $<TARGET_FILE:host_device_module> $<TARGET_FILE:nvml_fixture>)
  set_tests_properties(integration_trainer_${name} PROPERTIES
    LABELS integration TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endforeach()
# The same on the PTX of the kernels: some forty minutes.
if(TARGET ptx_module)
  add_test(NAME slow_trainer_device_ptx
           COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/trainer_device.py $<TARGET_FILE:dttrain> $<TARGET_FILE:ptx_module> $<TARGET_FILE:nvml_fixture>)
  set_tests_properties(slow_trainer_device_ptx PROPERTIES
    LABELS slow TIMEOUT 7200 SKIP_RETURN_CODE 77 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endif()
# Every number of ranks over every transport, with audits and without: several minutes.
add_test(NAME faults_trainer_transports
         COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/trainer_transports.py $<TARGET_FILE:dttrain> whole)
set_tests_properties(faults_trainer_transports PROPERTIES
  LABELS faults TIMEOUT 1800 SKIP_RETURN_CODE 77 ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
# ResNet-20 trained to the end: hours.
add_test(NAME slow_trainer_resnet
         COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/trainer_resnet_accuracy.py $<TARGET_FILE:dttrain>)
set_tests_properties(slow_trainer_resnet PROPERTIES
  LABELS slow TIMEOUT 43200 PROCESSORS 2 SKIP_RETURN_CODE 77 ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
# Layouts of which each pair of values occurs together: several minutes.
add_test(NAME slow_trainer_pairwise
         COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/trainer_pairwise.py $<TARGET_FILE:dttrain>)
set_tests_properties(slow_trainer_pairwise PROPERTIES
  LABELS slow TIMEOUT 1800 SKIP_RETURN_CODE 77 RUN_SERIAL ON ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
# Models of more than 2^31 parameters: as much memory as there is.
add_test(NAME slow_trainer_extents
         COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/trainer_extents.py $<TARGET_FILE:dttrain>)
set_tests_properties(slow_trainer_extents PROPERTIES
  LABELS slow TIMEOUT 7200 SKIP_RETURN_CODE 77 RUN_SERIAL ON ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
# Five seeds of two models, ours and PyTorch's: a quarter of an hour.
add_test(NAME slow_trainer_quality
         COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/trainer_quality.py $<TARGET_FILE:dttrain>)
set_tests_properties(slow_trainer_quality PROPERTIES
  LABELS slow TIMEOUT 7200 SKIP_RETURN_CODE 77 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
# 50 steps in float64 beside two in fp32, of three starts: minutes of computing.
add_test(NAME slow_trainer_rounding
         COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/trainer_rounding.py $<TARGET_FILE:dttrain>)
set_tests_properties(slow_trainer_rounding PROPERTIES
  LABELS slow TIMEOUT 3600 SKIP_RETURN_CODE 77 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
