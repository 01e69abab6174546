# Enables OBJCXX, and OBJC for tests in plain Objective-C. On Linux: finds clang >= 16, refuses other compilers, and
# defines alloy_objcxx, the options with which clang compiles for GCC's Objective-C runtime and GNUstep. On macOS: the
# platform's compiler, with manual reference counting as on Linux.

add_library(alloy_objcxx INTERFACE)

if(APPLE)
  enable_language(OBJC)
  enable_language(OBJCXX)
  target_compile_options(alloy_objcxx INTERFACE "$<$<COMPILE_LANGUAGE:OBJC,OBJCXX>:-fno-objc-arc>")
  return()
endif()

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "The C++ compiler is ${CMAKE_CXX_COMPILER_ID} but Alloy's C++ needs g++ (its OpenMP runtime is "
                      "libgomp); install it with: apt-get install g++ (and configure with CXX=g++).")
endif()

# The compiler comes from OBJCXX in the environment or from CMAKE_OBJCXX_COMPILER; otherwise it is the first clang that
# is new enough.
set(candidates clang++ clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16)
if(CMAKE_OBJCXX_COMPILER)
  set(candidates "${CMAKE_OBJCXX_COMPILER}")
elseif(DEFINED ENV{OBJCXX})
  set(candidates "$ENV{OBJCXX}")
endif()
set(clang)
foreach(name IN LISTS candidates)
  unset(candidate)
  find_program(candidate "${name}" NO_CACHE)
  if(candidate)
    execute_process(COMMAND "${candidate}" --version OUTPUT_VARIABLE version ERROR_QUIET)
    if(version MATCHES "clang version ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 16)
      set(clang "${candidate}")
      break()
    endif()
  endif()
endforeach()
if(NOT clang)
  list(JOIN candidates ", " candidates)
  message(FATAL_ERROR "clang 16 or newer is missing (Objective-C++; looked for ${candidates}); install it with: "
                      "apt-get install clang-16 (or any newer clang-<version>).")
endif()
# The same clang for OBJC: CMake's -x selects the language, not the driver's name.
set(CMAKE_OBJC_COMPILER "${clang}" CACHE FILEPATH "Objective-C compiler")
set(CMAKE_OBJCXX_COMPILER "${clang}" CACHE FILEPATH "Objective-C++ compiler")

# clang uses the standard library of the newest GCC that it finds, even without headers; so name g++'s.
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-libgcc-file-name OUTPUT_VARIABLE libgcc
                OUTPUT_STRIP_TRAILING_WHITESPACE)
cmake_path(GET libgcc PARENT_PATH gcc_directory)
string(APPEND CMAKE_OBJC_FLAGS " --gcc-install-dir=${gcc_directory}")
string(APPEND CMAKE_OBJCXX_FLAGS " --gcc-install-dir=${gcc_directory}")
enable_language(OBJC)
enable_language(OBJCXX)

find_package(GNUstep REQUIRED)
set(objcxx_flags -fobjc-runtime=gcc -fblocks -fexceptions -fobjc-exceptions
    -fconstant-string-class=NSConstantString -pthread)
target_compile_options(alloy_objcxx INTERFACE "$<$<COMPILE_LANGUAGE:OBJC,OBJCXX>:${objcxx_flags}>")
target_compile_definitions(alloy_objcxx INTERFACE
  "$<$<COMPILE_LANGUAGE:OBJC,OBJCXX>:GNUSTEP;GNUSTEP_BASE_LIBRARY=1;GNU_RUNTIME=1;_NATIVE_OBJC_EXCEPTIONS>")
target_link_libraries(alloy_objcxx INTERFACE GNUstep::base)

# Only compiled: programs link with this project's own blocks runtime.
include(CheckOBJCXXSourceCompiles)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
list(JOIN objcxx_flags " " CMAKE_REQUIRED_FLAGS)
string(APPEND CMAKE_REQUIRED_FLAGS " -idirafter ${GNUstep_GCC_INCLUDE_DIR}")
check_objcxx_source_compiles("
#include <objc/objc.h>
@interface Probe { Class isa; } @end
@implementation Probe @end
int probe(int n) { int (^block)(int) = ^(int m) { return m + n; }; @try { return block(1); } @catch (id) { return 0; } }
" ALLOY_CLANG_ACCEPTS_OBJCXX_FLAGS)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
if(NOT ALLOY_CLANG_ACCEPTS_OBJCXX_FLAGS)
  message(FATAL_ERROR "${CMAKE_OBJCXX_COMPILER} cannot compile for GCC's Objective-C runtime (see CMakeFiles in "
                      "${PROJECT_BINARY_DIR}); install another one with: apt-get install clang-16.")
endif()
