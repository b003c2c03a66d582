# The style sheet and the script of the report page become string literals of a generated source. Done when CMake runs, which
# it does again by itself when one of the files changes.
file(GLOB report_scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ockham/report/assets/*.js)
list(SORT report_scripts)

function(read_report_asset variable)  # files...
  set(text "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} part)
    string(APPEND text "${part}")
  endforeach()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

read_report_asset(report_style ${PROJECT_SOURCE_DIR}/ockham/report/assets/style.css)
read_report_asset(report_dark ${PROJECT_SOURCE_DIR}/ockham/report/assets/dark.css)
read_report_asset(report_script ${report_scripts})
set(report_assets ${PROJECT_BINARY_DIR}/generated/report_assets.cpp)
configure_file(${PROJECT_SOURCE_DIR}/ockham/report/assets/assets.cpp.in ${report_assets} @ONLY)
