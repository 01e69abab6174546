# Finds GNUstep Base and GCC's Objective-C runtime as GNUstep::base. The runtime's headers are in g++'s private include
# directory, which must come after clang's own.

find_path(GNUstep_INCLUDE_DIR Foundation/Foundation.h PATH_SUFFIXES GNUstep)
find_library(GNUstep_LIBRARY gnustep-base)
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=include OUTPUT_VARIABLE GNUstep_GCC_INCLUDE_DIR
                OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libobjc.so OUTPUT_VARIABLE GNUstep_OBJC_LIBRARY
                OUTPUT_STRIP_TRAILING_WHITESPACE)

if(NOT GNUstep_INCLUDE_DIR OR NOT GNUstep_LIBRARY)
  message(FATAL_ERROR "GNUstep Base is missing (Foundation for Linux); install it with: "
                      "apt-get install libgnustep-base-dev.")
endif()
if(NOT EXISTS "${GNUstep_GCC_INCLUDE_DIR}/objc/objc.h" OR NOT EXISTS "${GNUstep_OBJC_LIBRARY}")
  string(REGEX MATCH "^[0-9]+" gcc_major "${CMAKE_CXX_COMPILER_VERSION}")
  message(FATAL_ERROR "The Objective-C runtime of g++ ${gcc_major} is missing; install it with: "
                      "apt-get install libobjc-${gcc_major}-dev.")
endif()

add_library(GNUstep::base INTERFACE IMPORTED)
target_include_directories(GNUstep::base SYSTEM INTERFACE "${GNUstep_INCLUDE_DIR}")
target_compile_options(GNUstep::base INTERFACE
  "$<$<COMPILE_LANGUAGE:OBJC,OBJCXX>:SHELL:-idirafter \"${GNUstep_GCC_INCLUDE_DIR}\">")
target_link_libraries(GNUstep::base INTERFACE "${GNUstep_LIBRARY}" "${GNUstep_OBJC_LIBRARY}")
set(GNUstep_FOUND TRUE)
mark_as_advanced(GNUstep_INCLUDE_DIR GNUstep_LIBRARY)
