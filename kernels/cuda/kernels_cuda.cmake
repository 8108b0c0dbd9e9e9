# The CUDA kernels and the runtime that launches them, linked statically: the driver is the machine's, opened when the first
# CUDA call is made, so the library loads where there is none.
set(CMAKE_CUDA_COMPILER ${INLAY_NVCC})
set(CMAKE_CUDA_ARCHITECTURES OFF)
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit REQUIRED)
file(GLOB INLAY_CUDA_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/cuda/*/*.cu)
add_library(inlay_kernels_cuda STATIC ${INLAY_CUDA_SOURCES})
target_link_libraries(inlay_kernels_cuda PUBLIC inlay_flags CUDA::cudart_static)
target_include_directories(inlay_kernels_cuda SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
set_target_properties(inlay_kernels_cuda PROPERTIES CUDA_STANDARD 20 CUDA_VISIBILITY_PRESET hidden)
set(inlay_gencode "")
foreach(architecture IN LISTS INLAY_CUDA_ARCHITECTURES)
  list(APPEND inlay_gencode "SHELL:-gencode arch=compute_${architecture},code=sm_${architecture}")
endforeach()
list(GET INLAY_CUDA_ARCHITECTURES -1 architecture)
list(APPEND inlay_gencode "SHELL:-gencode arch=compute_${architecture},code=compute_${architecture}")
target_compile_options(inlay_kernels_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo --threads=0> "$<$<COMPILE_LANGUAGE:CUDA>:${inlay_gencode}>"
                       $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${INLAY_WERROR}>>:-Werror=all-warnings>)
