# find_package(Alloy) gives Alloy::MetalPerformanceShadersGraph: the portable framework with Foundation, for targets in
# OBJC or OBJCXX, which clang has to compile. `alloy config --cmakedir` prints where this file is.

if(TARGET Alloy::MetalPerformanceShadersGraph)
  return()
endif()
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH alloy_root)
foreach(name IN ITEMS Cflags Libs)
  file(STRINGS "${alloy_root}/pkgconfig/alloy.pc" alloy_${name} REGEX "^${name}: ")
  string(REGEX REPLACE "^${name}: " "" alloy_${name} "${alloy_${name}}")
  string(REPLACE "\${root}" "${alloy_root}" alloy_${name} "${alloy_${name}}")
endforeach()
separate_arguments(alloy_Libs UNIX_COMMAND "${alloy_Libs}")

add_library(Alloy::MetalPerformanceShadersGraph INTERFACE IMPORTED)
set_target_properties(Alloy::MetalPerformanceShadersGraph PROPERTIES
  INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:OBJC,OBJCXX>:SHELL:${alloy_Cflags}>"
  INTERFACE_LINK_LIBRARIES "${alloy_Libs}")
