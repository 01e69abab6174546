# Layers as static libraries, and the layers that each may include.
#
# A layer can include its own headers and those of the layers named after SEES. For each layer there is an include root:
# a build directory that only contains a link to its sources. So "engine/graph.h" is not found by layers that may not
# see the engine. Layers do not link each other: a program or shared object names all its layers in the order of
# linking. The order matters. The linker keeps the first copy of an inline function, and clang's copies cannot run a C++
# handler under GCC's Objective-C runtime. So g++'s objects come first: the target's own, then ir, host, device,
# compiler, cpu, runtime, package, then engine or facade, and within a layer .cpp before .mm. The test link_order checks
# the result.
#
# Several sources of a layer are compiled together (CMAKE_UNITY_BUILD), because reading the headers takes longer than
# compiling the code. So a name in an anonymous namespace must be unique in its layer.

set(ALLOY_INCLUDE_ROOT "${PROJECT_BINARY_DIR}/include")

# alloy_layer(<name> <directory> [SEES <layer>...]): the static library alloy_<name> of the sources in the directory and
# its folders. Headers are included as "<name>/...". Makes no target if the directory has no sources.
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
  # In a layer of both languages, g++'s part is a separate target whose objects come first in the archive: the objects
  # of a unity build come in the reverse order of the languages.
  set(targets alloy_${name})
  if(cxx_sources AND objcxx_sources)
    list(APPEND targets alloy_${name}_cxx)
    add_library(alloy_${name}_cxx OBJECT ${cxx_sources})
    add_library(alloy_${name} STATIC $<TARGET_OBJECTS:alloy_${name}_cxx> ${objcxx_sources})
  else()
    add_library(alloy_${name} STATIC ${cxx_sources} ${objcxx_sources})
  endif()
  foreach(source IN LISTS cxx_sources objcxx_sources)
    # These are compiled alone: files that Highway compiles again for each instruction set, and the file that defines
    # blocks, whose symbols must not be found under names that other libraries have (Block.h).
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

# Lets a target include the headers of these layers.
function(alloy_sees target)
  foreach(layer IN LISTS ARGN)
    target_include_directories(${target} PRIVATE "${ALLOY_INCLUDE_ROOT}/${layer}")
  endforeach()
endfunction()

# Links all objects of these layers into a target with g++, in this order, after the target's own.
function(alloy_link_layers target)
  foreach(layer IN LISTS ARGN)
    if(TARGET alloy_${layer})
      target_link_libraries(${target} PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,alloy_${layer}>")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()
