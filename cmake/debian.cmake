# Packages for Debian and Ubuntu: dtsubmit, dtsubmit-slurm and dttrain, as far as the parts are built. See INSTALL.md.
set(DTSUBMIT_PACKAGER "The dtsubmit authors <dtsubmit@example.org>" CACHE STRING "Who makes the packages: NAME <MAIL>")
find_program(DTS_GZIP gzip REQUIRED)

# dts_compressed(FILE NAME RESULT): FILE as NAME.gz below the build folder.
function(dts_compressed file name result)
  set(path ${PROJECT_BINARY_DIR}/packaging/${name}.gz)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/packaging)
  execute_process(COMMAND ${DTS_GZIP} -9nc ${file} OUTPUT_FILE ${path} COMMAND_ERROR_IS_FATAL ANY)
  set(${result} ${path} PARENT_SCOPE)
endfunction()

configure_file(packaging/debian/changelog.in ${PROJECT_BINARY_DIR}/packaging/changelog @ONLY)
dts_compressed(${PROJECT_BINARY_DIR}/packaging/changelog changelog changelog)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL dtsubmit)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${DTSUBMIT_PACKAGER}")
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# dts_debian(COMPONENT PACKAGE DESCRIPTION): one package. The description's first line is the short one.
function(dts_debian component package description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}" PARENT_SCOPE)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright ${changelog}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  set(overrides ${PROJECT_SOURCE_DIR}/packaging/debian/${package}.lintian-overrides)
  if(EXISTS ${overrides})
    install(FILES ${overrides} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component} RENAME ${package})
  endif()
endfunction()

dts_debian(dtsubmit dtsubmit "takes distributed training jobs through Slurm and back
One rank per GPU, bound to its cores, and a rendezvous that every rank has
reached. A job that is preempted saves, requeues itself and continues. Users
write no batch script.

Slurm is driven through its commands; dtsubmit-slurm uses libslurm.")
if(DTS_HAVE_SLURM)
  list(APPEND CPACK_COMPONENTS_ALL slurm)
  dts_debian(slurm dtsubmit-slurm "takes distributed training jobs through libslurm
The plug-in of dtsubmit for the release of libslurm that it was built with.
Where the cluster runs another one, dtsubmit uses Slurm's commands by itself.")
  set(CPACK_DEBIAN_SLURM_PACKAGE_DEPENDS "dtsubmit (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_DTSUBMIT_PACKAGE_SUGGESTS "dtsubmit-slurm, dttrain")
endif()
if(DTS_HAVE_TRAINER)
  list(APPEND CPACK_COMPONENTS_ALL dttrain)
  dts_debian(dttrain dttrain "small distributed trainer with bit-identical results
Trains image classifiers with MPI and oneDNN on processors. Any number of
ranks and threads gives the same bits, also after a preemption: for trials of
a cluster and of dtsubmit.")
  set(CPACK_DEBIAN_DTTRAIN_PACKAGE_RECOMMENDS dtsubmit)
endif()
include(CPack)
