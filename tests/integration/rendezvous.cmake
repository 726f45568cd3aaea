# Worlds that go wrong, and many at once; each script says what it checks.
foreach(name faults silent networks ports alike stress)
  add_test(NAME rendezvous_${name}
           COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/rendezvous_${name}.py)
  set_tests_properties(rendezvous_${name} PROPERTIES
    LABELS integration TIMEOUT 900 SKIP_RETURN_CODE 77 RUN_SERIAL ON
    ENVIRONMENT "DTSUBMIT=$<TARGET_FILE:dtsubmit>;DTTRAIN=$<TARGET_FILE:dttrain>;PYTHONDONTWRITEBYTECODE=1")
endforeach()
