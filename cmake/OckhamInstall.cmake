# The installed tree: library, headers, tool (app/CMakeLists.txt) and the package that find_package(ockham) reads.
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/ockham)

install(TARGETS ockham EXPORT ockhamTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/ockham DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT ockhamTargets NAMESPACE ockham:: DESTINATION ${package_directory})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ockhamConfig.cmake.in ${PROJECT_BINARY_DIR}/ockhamConfig.cmake
                              INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ockhamConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ockhamConfig.cmake ${PROJECT_BINARY_DIR}/ockhamConfigVersion.cmake
        DESTINATION ${package_directory})
