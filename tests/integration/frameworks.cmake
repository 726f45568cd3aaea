# The frameworks' own programs as our ranks. PyTorch is Debian's and always tried; the others come
# from PyPI and have a label of their own: DTS_FRAMEWORKS_PYTHON=<venv>/bin/python ctest -L frameworks
foreach(name torch tensorflow jax)
  set(label frameworks)
  if(name STREQUAL torch)
    set(label integration)
  endif()
  add_test(NAME frameworks_${name}
           COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/frameworks_${name}.py)
  set_tests_properties(frameworks_${name} PROPERTIES
    LABELS ${label} TIMEOUT 600 SKIP_RETURN_CODE 77 RUN_SERIAL ON
    ENVIRONMENT "DTSUBMIT=$<TARGET_FILE:dtsubmit>;PYTHONDONTWRITEBYTECODE=1")
endforeach()
