# Each instruction set is compiled in files of its own; only dispatch.cpp decides which of them runs.
file(GLOB cpu_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/cpu/*.cpp)
file(GLOB cpu_avx2_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/cpu/avx2/*.cpp)
file(GLOB cpu_avx512_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/cpu/avx512/*.cpp)
add_library(inlay_kernels_cpu STATIC ${cpu_sources})
target_link_libraries(inlay_kernels_cpu PUBLIC inlay_flags inlay_kernels_ref)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_sources(inlay_kernels_cpu PRIVATE ${cpu_avx2_sources} ${cpu_avx512_sources})
  set_source_files_properties(${cpu_avx2_sources} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")
  set_source_files_properties(${cpu_avx512_sources} PROPERTIES COMPILE_OPTIONS
    "-mavx2;-mfma;-mf16c;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vnni;-mprefer-vector-width=512")
endif()
