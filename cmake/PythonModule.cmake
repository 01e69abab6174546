# alloy._core, beside the framework in the package directory.

file(GLOB binding_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/csrc/bindings/*.cpp")
if(NOT binding_sources)
  return()
endif()

find_package(Python 3.10 COMPONENTS Interpreter Development.Module NumPy)
if(NOT Python_Development.Module_FOUND)
  message(FATAL_ERROR "The headers of Python ${Python_VERSION} (${Python_EXECUTABLE}) are missing; install them with: "
                      "apt-get install python3-dev.")
endif()
if(NOT Python_NumPy_FOUND)
  message(FATAL_ERROR "NumPy is missing from the Python environment of ${Python_EXECUTABLE}; install it with: "
                      "${Python_EXECUTABLE} -m pip install numpy.")
endif()
find_package(pybind11 CONFIG)
if(NOT pybind11_FOUND)
  message(FATAL_ERROR "pybind11 is missing from the Python environment of ${Python_EXECUTABLE}; install it with: "
                      "${Python_EXECUTABLE} -m pip install pybind11.")
endif()

# Without pybind11's link-time optimisation, which would choose among inline functions in an order of its own.
pybind11_add_module(_core MODULE NO_EXTRAS ${binding_sources})
target_compile_options(_core PRIVATE ${ALLOY_WARNINGS})
alloy_sees(_core ir engine)
alloy_link_layers(_core ir reference engine)
target_link_libraries(_core PRIVATE Python::NumPy)
set_target_properties(_core PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS _core LIBRARY DESTINATION alloy)
