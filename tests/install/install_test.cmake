# cmake -D BUILD_DIRECTORY=... -D PROGRAM=... -D WORK=... -D GENERATOR=... -D CXX=... -P install_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${result}): ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD_DIRECTORY} --prefix ${prefix})

run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${PROGRAM} -B ${WORK}/build -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/program)
message(STATUS "the program says: ${output}")

# The installed tool finds its engine from where it lies.
run(${prefix}/bin/ockham doctor --json)
if(NOT output MATCHES "\"schema\": 1")
  message(FATAL_ERROR "ockham doctor --json of the installed tree printed:\n${output}")
endif()
file(REMOVE_RECURSE ${WORK})
