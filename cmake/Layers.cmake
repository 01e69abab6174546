# Layers as static libraries, and what a layer may see.
#
# A layer sees the include roots named after SEES and its own; a root is a build directory that holds nothing
# but a link to one layer's sources, so "engine/graph.h" is not found by those who may not see the engine.
# Layers do not link each other: a program or shared object names all its layers, in the order in which they
# are linked. That order matters. Of an inline function the linker keeps the first copy it meets, and clang's
# copies cannot run a C++ handler under GCC's Objective-C runtime, so g++'s objects come first: the target's
# own, then ir, host, device, compiler, cpu, runtime, package, then engine or facade, and within a layer .cpp before
# .mm. The test link_order reads the result.
#
# The sources of a layer are compiled many at a time (CMAKE_UNITY_BUILD), because reading the headers takes longer than
# compiling what is written behind them. So a name in an anonymous namespace is given once in a layer.

set(ALLOY_INCLUDE_ROOT "${PROJECT_BINARY_DIR}/include")

# alloy_layer(<name> <directory> [SEES <layer>...]): the static library alloy_<name> of the sources in the
# directory and its folders, whose headers are included as "<name>/...". There is no target while the directory has no
# sources.
function(alloy_layer name directory)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SEES")
  set(root "${ALLOY_INCLUDE_ROOT}/${name}")
  file(MAKE_DIRECTORY "${root}")
  file(CREATE_LINK "${directory}" "${root}/${name}" SYMBOLIC)
  file(GLOB_RECURSE cxx_sources CONFIGURE_DEPENDS "${directory}/*.cpp")
  file(GLOB_RECURSE objcxx_sources CONFIGURE_DEPENDS "${directory}/*.mm")
  if(NOT cxx_sources AND NOT objcxx_sources)
    return()
  endif()
  # g++'s part of a layer of both languages is a target of its own, whose objects come first in the archive: objects of
  # a unity build stand there in the reverse of the languages' order.
  set(targets alloy_${name})
  if(cxx_sources AND objcxx_sources)
    list(APPEND targets alloy_${name}_cxx)
    add_library(alloy_${name}_cxx OBJECT ${cxx_sources})
    add_library(alloy_${name} STATIC $<TARGET_OBJECTS:alloy_${name}_cxx> ${objcxx_sources})
  else()
    add_library(alloy_${name} STATIC ${cxx_sources} ${objcxx_sources})
  endif()
  foreach(source IN LISTS cxx_sources objcxx_sources)
    # Alone stay files that Highway compiles again for each instruction set, and the one that defines what blocks are:
    # others must find that under names that no other library has (Block.h).
    file(STRINGS "${source}" alone REGEX "hwy/foreach_target.h|define ALLOY_DEFINES_BLOCKS" LIMIT_COUNT 1)
    if(alone)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  foreach(target IN LISTS targets)
    target_compile_options(${target} PRIVATE ${ALLOY_WARNINGS})
    target_link_libraries(${target} PRIVATE Threads::Threads)
    alloy_sees(${target} ${name} ${arg_SEES})
  endforeach()
endfunction()

# Lets a target include the headers of the layers named.
function(alloy_sees target)
  foreach(layer IN LISTS ARGN)
    target_include_directories(${target} PRIVATE "${ALLOY_INCLUDE_ROOT}/${layer}")
  endforeach()
endfunction()

# Links all objects of the layers named into a target, in this order, behind the target's own, with g++.
function(alloy_link_layers target)
  foreach(layer IN LISTS ARGN)
    if(TARGET alloy_${layer})
      target_link_libraries(${target} PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,alloy_${layer}>")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()
