# The private cluster, on real Slurm. Skips print why (SKIP_RETURN_CODE).
foreach(flavour linuxproc cgroup)
  add_test(NAME cluster_lifecycle_${flavour}
    COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/cluster_lifecycle.bash ${flavour})
endforeach()
add_test(NAME cluster_plain_user COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/cluster_plain_user.bash)
set_tests_properties(cluster_lifecycle_linuxproc cluster_lifecycle_cgroup cluster_plain_user PROPERTIES
  LABELS integration TIMEOUT 300 SKIP_RETURN_CODE 125 ENVIRONMENT "DTSUBMIT=$<TARGET_FILE:dtsubmit>")
# The quickstart and a choice of tests as a plain user, from a copy below /home.
add_test(NAME plain_user COMMAND ${PROJECT_SOURCE_DIR}/tests/plain_user.sh ${PROJECT_BINARY_DIR})
set_tests_properties(plain_user PROPERTIES LABELS integration TIMEOUT 900 SKIP_RETURN_CODE 77)
