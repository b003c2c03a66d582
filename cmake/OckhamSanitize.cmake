# OCKHAM_SANITIZE=address|thread builds every target under sanitizers, in a build directory of its own (CMakePresets.json). Without it nothing
# changes.
set(OCKHAM_SANITIZE "" CACHE STRING "address (with undefined behaviour), thread, or empty")
set_property(CACHE OCKHAM_SANITIZE PROPERTY STRINGS "" address thread)

if(OCKHAM_SANITIZE STREQUAL "address")
  # Undefined behaviour is recoverable for the compiler, or its suppressions would not work; scripts/test makes it stop at run time.
  # vptr needs type information that libtorch keeps to itself.
  set(sanitizers -fsanitize=address,undefined,float-cast-overflow -fno-sanitize=vptr)
elseif(OCKHAM_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread)
elseif(OCKHAM_SANITIZE)
  message(FATAL_ERROR "OCKHAM_SANITIZE is '${OCKHAM_SANITIZE}'; address, thread or nothing is expected")
endif()

if(OCKHAM_SANITIZE)
  # Lines in reports, half the time to compile; the last -O of a command line counts.
  add_compile_options(${sanitizers} -fno-omit-frame-pointer -g1 -O1)
  add_link_options(${sanitizers})
endif()
