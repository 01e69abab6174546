# The portable framework: host, device, compiler, cpu, cuda, runtime, package and facade, linked into
# libMetalPerformanceShadersGraph.so. Only the cpu device uses oneDNN and Highway.

set(portable "${PROJECT_SOURCE_DIR}/csrc/portable")

alloy_layer(host "${portable}/host" SEES ir)
alloy_layer(device "${portable}/device" SEES ir host)
alloy_layer(compiler "${portable}/compiler" SEES ir host device)
alloy_layer(cpu "${portable}/cpu" SEES ir host device)
if(TARGET alloy_cpu)
  find_package(OneDNN REQUIRED)
  find_package(OpenMP REQUIRED COMPONENTS CXX)  # to tell oneDNN that it has one thread
  find_path(HWY_INCLUDE_DIR hwy/highway.h)
  find_library(HWY_LIBRARY hwy)
  if(NOT HWY_INCLUDE_DIR OR NOT HWY_LIBRARY)
    message(FATAL_ERROR "Highway is missing (SIMD kernels); install it with: apt-get install libhwy-dev.")
  endif()
  target_include_directories(alloy_cpu SYSTEM PRIVATE "${HWY_INCLUDE_DIR}")
  target_compile_definitions(alloy_cpu PRIVATE HWY_SHARED_DEFINE)
  target_compile_options(alloy_cpu PRIVATE "$<$<CONFIG:Release>:-O3>")
  target_link_libraries(alloy_cpu PRIVATE OneDNN::dnnl "${HWY_LIBRARY}" OpenMP::OpenMP_CXX)
endif()

alloy_layer(cuda "${portable}/cuda" SEES ir host device)
alloy_layer(runtime "${portable}/runtime" SEES ir host device compiler)
alloy_layer(package "${portable}/package" SEES ir host device compiler runtime)

# The op table is also a public header: a program may list the framework's ops.
file(MAKE_DIRECTORY "${ALLOY_INCLUDE_ROOT}/public/MetalPerformanceShadersGraph")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/csrc/ir/ops.def"
     "${ALLOY_INCLUDE_ROOT}/public/MetalPerformanceShadersGraph/ops.def" SYMBOLIC)
set(public_include "${portable}/include" "${ALLOY_INCLUDE_ROOT}/public")

alloy_layer(facade "${portable}/facade" SEES ir host device compiler cpu runtime package)
if(NOT TARGET alloy_facade)
  return()
endif()
target_include_directories(alloy_facade PRIVATE ${public_include})
target_link_libraries(alloy_facade PRIVATE alloy_objcxx)
# Only symbols of the export list are visible outside the library.
set_target_properties(alloy_facade PROPERTIES OBJCXX_VISIBILITY_PRESET default)

alloy_layer(on_load "${portable}/on_load")

# Links the framework into a shared library, with these layers of further devices.
function(alloy_link_framework target)
  # on_load last: its constructor must run after all others.
  alloy_link_layers(${target} ir host device compiler cpu cuda ${ARGN} runtime package facade on_load)
  target_link_libraries(${target} PUBLIC alloy_objcxx PRIVATE ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE "LINKER:-z,defs"
                      "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/mpsgraph.exports")
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME MetalPerformanceShadersGraph
    LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/mpsgraph.exports"
    INSTALL_RPATH "$ORIGIN")
endfunction()

add_library(mpsgraph SHARED "${PROJECT_SOURCE_DIR}/cmake/mpsgraph.exports")
target_include_directories(mpsgraph INTERFACE ${public_include})
alloy_link_framework(mpsgraph)

# The library that users' programs need on GCC's Objective-C runtime when alloy-clang++ compiles them.
alloy_layer(objc "${portable}/objc")
add_library(AlloyObjC SHARED "${portable}/objc/entry_points.h")
alloy_link_layers(AlloyObjC objc)
target_link_libraries(AlloyObjC PRIVATE "${GNUstep_OBJC_LIBRARY}")
target_link_options(AlloyObjC PRIVATE "LINKER:-z,defs")

# Installs into the Python package: the libraries with oneDNN beside them, so that neither the build environment nor
# LD_LIBRARY_PATH is needed, and everything to compile Objective-C++ programs, including Foundation's headers.
install(TARGETS mpsgraph AlloyObjC LIBRARY DESTINATION alloy)
install(DIRECTORY "${portable}/include/" DESTINATION alloy/include)
install(FILES "${PROJECT_SOURCE_DIR}/csrc/ir/ops.def" DESTINATION alloy/include/MetalPerformanceShadersGraph)
file(GLOB foundation "${GNUstep_INCLUDE_DIR}/Foundation" "${GNUstep_INCLUDE_DIR}/GNUstepBase"
     "${GNUstep_INCLUDE_DIR}/CoreFoundation")  # the last not in GNUstep Base 1.28
install(DIRECTORY ${foundation} "${GNUstep_GCC_INCLUDE_DIR}/objc" DESTINATION alloy/include/GNUstep)
set(PROJECT_VERSION "${SKBUILD_PROJECT_VERSION_FULL}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/package/alloy.pc" "${PROJECT_BINARY_DIR}/alloy.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/alloy.pc" DESTINATION alloy/pkgconfig)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/package/AlloyConfig.cmake" DESTINATION alloy/cmake)
if(OneDNN_LICENSES)
  install(PROGRAMS "${OneDNN_LIBRARY}" DESTINATION alloy RENAME libdnnl.so.3)
  install(FILES ${OneDNN_LICENSES} DESTINATION alloy/licenses/oneDNN)
endif()
