# The CUDA toolkit, for the trainer's module. Not as a language of CMake, whose 3.25 has no C++20 for nvcc: one file is compiled by
# a command of its own.
set(dts_nvcc_works OFF)
set(dts_cuda_plain ON)
if(DTSUBMIT_SANITIZE)
  set(dts_cuda_plain OFF)  # no sanitizer of the host knows a device's memory
endif()
if(dts_wants_CUDA AND DTS_HAVE_TRAINER AND dts_cuda_plain)
  find_package(CUDAToolkit 12 QUIET)
endif()

# dts_nvcc(RESULT ARGUMENT...): a command line that compiles for the host with our compiler.
function(dts_nvcc result)
  set(${result} ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++20 -ccbin ${CMAKE_CXX_COMPILER} -Xcompiler=-fPIC,-fvisibility=hidden ${ARGN} PARENT_SCOPE)
endfunction()

if(CUDAToolkit_FOUND)
  find_path(dts_nccl_folder nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} DOC "the folder of NCCL's header")
  mark_as_advanced(dts_nccl_folder)
endif()

if(CUDAToolkit_NVCC_EXECUTABLE AND TARGET CUDA::cublasLt)
  # Whether this nvcc knows this compiler: each release refuses what is newer than itself.
  if(NOT "${dts_nvcc_tried}" STREQUAL "${CUDAToolkit_NVCC_EXECUTABLE} ${CMAKE_CXX_COMPILER}")
    file(WRITE ${PROJECT_BINARY_DIR}/CMakeFiles/try.cu "#include <cmath>\n__global__ void add(float* x) { x[0] += 1; }\n")
    dts_nvcc(dts_try -c ${PROJECT_BINARY_DIR}/CMakeFiles/try.cu -o ${PROJECT_BINARY_DIR}/CMakeFiles/try.o)
    execute_process(COMMAND ${dts_try} RESULT_VARIABLE dts_try_failed OUTPUT_QUIET ERROR_QUIET)
    set(dts_nvcc_failed ${dts_try_failed} CACHE INTERNAL "")
    set(dts_nvcc_tried "${CUDAToolkit_NVCC_EXECUTABLE} ${CMAKE_CXX_COMPILER}" CACHE INTERNAL "")
  endif()
  if(dts_nvcc_failed EQUAL 0)
    set(dts_nvcc_works ON)
  endif()
  # Code for the devices that this nvcc knows, and PTX, which later ones compile for themselves.
  set(dts_cuda_targets -gencode arch=compute_80,code=[sm_80,compute_80])
  set(dts_cuda_names sm_80)
  execute_process(COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} --list-gpu-arch OUTPUT_VARIABLE dts_cuda_known)
  foreach(number 90 100)
    set(name ${number})
    if(number EQUAL 90)
      set(name 90a)  # with what no other device has
    endif()
    if(dts_cuda_known MATCHES "compute_${number}\n")
      list(APPEND dts_cuda_targets -gencode arch=compute_${name},code=sm_${name})
      string(APPEND dts_cuda_names ", sm_${name}")
    endif()
  endforeach()
endif()
