# Compile settings shared by every target: C++17, warnings, hardening, lld and ccache when they are there.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are safe with ccache only under these settings.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()
find_program(LLD_PROGRAM NAMES ld.lld)
include(OckhamSanitize)

# What makes a mistake with memory harder to abuse; tests/architecture/hardening.sh looks for it in the built files. Sanitizers bring
# checks of their own, which _FORTIFY_SOURCE would hide. Executables are position independent by the compiler's own default on Debian;
# saying so here would give tests and their support different precompiled headers.
include(CheckCXXCompilerFlag)
set(hardening_options -fstack-protector-strong)
foreach(flag -fstack-clash-protection -fcf-protection)
  string(MAKE_C_IDENTIFIER "accepts${flag}" accepted)
  check_cxx_compiler_flag(${flag} ${accepted})
  if(${accepted})
    list(APPEND hardening_options ${flag})
  endif()
endforeach()

function(ockham_compile_settings target)
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unknown-pragmas)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
  if(OCKHAM_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  # Debian's libtorch is built with NDEBUG, and at::RecordFunction has another layout without it.
  target_compile_definitions(${target} PUBLIC NDEBUG)
  if(NOT OCKHAM_SANITIZE)
    target_compile_options(${target} PRIVATE ${hardening_options})
    # It needs optimisation, which a Debug build does not have; -U first, since some distributions define it themselves.
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>)
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack)
  endif()
  if(LLD_PROGRAM)
    target_link_options(${target} PRIVATE -fuse-ld=lld)
  endif()
endfunction()
