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
file(GLOB INLAY_CUDA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/*/*.cu)

# inlay_instances(RESULT FILE.cu.in TYPE...): a file for each storage type, so that many of them compile at a time.
function(inlay_instances result template)
  set(files "")
  cmake_path(GET template STEM LAST_ONLY name)
  foreach(type ${ARGN})
    string(REGEX REPLACE "type\\.cu$" "${type}.cu" file "${PROJECT_BINARY_DIR}/kernels/${name}")
    configure_file(${template} ${file} @ONLY)
    list(APPEND files ${file})
  endforeach()
  set(${result} ${files} PARENT_SCOPE)
endfunction()
set(INLAY_QUANTIZED_FORMS q8_0 q4_0 q4_1 q5_0 q5_1 q2_k q3_k q4_k q5_k q6_k iq1_m iq2_s iq3_xxs iq3_s iq4_nl iq4_xs mxfp4 tq2_0 f8_e4m3)
inlay_instances(linear_instances kernels/cuda/linear/linear_type.cu.in f32 f16 bf16 ${INLAY_QUANTIZED_FORMS})
inlay_instances(expert_instances kernels/cuda/moe/experts_type.cu.in f32 f16 bf16 ${INLAY_QUANTIZED_FORMS})

add_library(inlay_kernels_cuda STATIC ${INLAY_CUDA_SOURCES} ${linear_instances} ${expert_instances})
target_link_libraries(inlay_kernels_cuda PUBLIC inlay_flags CUDA::cudart_static)
target_include_directories(inlay_kernels_cuda SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
set_target_properties(inlay_kernels_cuda PROPERTIES CUDA_STANDARD 20 CUDA_VISIBILITY_PRESET hidden)

# Code for each architecture, which also runs on those of the same major number that came later, and one PTX, which the driver
# compiles for GPUs that are newer than all of it. 90 is old enough for every one of these and has all that the kernels use.
# N-virtual: the PTX of N and no code.
set(inlay_cuda_real ${inlay_cuda_architectures})
list(FILTER inlay_cuda_real EXCLUDE REGEX "-virtual$")
list(GET inlay_cuda_architectures -1 inlay_cuda_ptx)
if(90 IN_LIST inlay_cuda_architectures)
  set(inlay_cuda_ptx 90)
endif()
string(REPLACE "-virtual" "" inlay_cuda_ptx ${inlay_cuda_ptx})
set(inlay_gencode "SHELL:-gencode arch=compute_${inlay_cuda_ptx},code=compute_${inlay_cuda_ptx}")
foreach(architecture IN LISTS inlay_cuda_real)
  list(APPEND inlay_gencode "SHELL:-gencode arch=compute_${architecture},code=sm_${architecture}")
endforeach()

# Code is compressed. nvcc 13 uses a format that its own minimum driver, 580, reads; before, only the older one is safe to use.
set(inlay_cuda_options --threads=0 $<$<BOOL:${INLAY_CUDA_LINEINFO}>:-lineinfo>)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  list(APPEND inlay_cuda_options -compress-mode=size)
else()
  list(APPEND inlay_cuda_options -Xfatbin=-compress-all)
endif()
set(inlay_cuda_warnings $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${INLAY_WERROR}>>:-Werror=all-warnings>)
target_compile_options(inlay_kernels_cuda PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${inlay_cuda_options}>" "$<$<COMPILE_LANGUAGE:CUDA>:${inlay_gencode}>"
                       ${inlay_cuda_warnings})

# What sm_90a alone has: code that no other GPU can run, for which there is no PTX either.
if(90 IN_LIST inlay_cuda_architectures)
  file(GLOB INLAY_HOPPER_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/*/hopper/*.cu)
  inlay_instances(gemm_instances kernels/cuda/gemm/hopper/mixed_gemm_type.cu.in ${INLAY_QUANTIZED_FORMS})
  add_library(inlay_kernels_hopper OBJECT ${INLAY_HOPPER_SOURCES} ${gemm_instances})
  target_link_libraries(inlay_kernels_hopper PRIVATE inlay_flags CUDA::cudart_static)
  target_include_directories(inlay_kernels_hopper SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  set_target_properties(inlay_kernels_hopper PROPERTIES CUDA_STANDARD 20 CUDA_VISIBILITY_PRESET hidden)
  target_compile_options(inlay_kernels_hopper PRIVATE ${inlay_cuda_options} "SHELL:-gencode arch=compute_90a,code=sm_90a" ${inlay_cuda_warnings})
  target_sources(inlay_kernels_cuda PRIVATE $<TARGET_OBJECTS:inlay_kernels_hopper>)
else()
  file(GLOB INLAY_HOPPER_ABSENT CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/*/hopper/absent.cpp)
  target_sources(inlay_kernels_cuda PRIVATE ${INLAY_HOPPER_ABSENT})
endif()
