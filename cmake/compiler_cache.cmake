# ccache, where it is installed and no other launcher was chosen. With the project's folder as its base, clones in different folders
# share what was compiled; debugging information then names the folder of the clone that compiled it.
if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER AND NOT DEFINED ENV{CMAKE_CXX_COMPILER_LAUNCHER})
  find_program(DTS_CCACHE ccache)
  if(DTS_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${DTS_CCACHE})
  endif()
endif()
